// Functions outside of proctypes see the state; structures, arrays and mtype constants have their names.
mtype = { red, green };
typedef Pair { int left; byte right[2] }
c_code {
  int both(struct Pair *p) { return p->left + p->right[0] + p->right[1]; }
  int is_green(void) { return now.light == 1; }
}
mtype light = red;
Pair pair;
bool flag;
unsigned three : 3;

active proctype main() {
  pair.left = 1; pair.right[1] = 2;
  c_code { now.pair.right[0] = both(&now.pair); now.flag = 3; now.three = 13; };
  assert(pair.right[0] == 3 && flag && three == 5);
  assert(c_expr { is_green() } == 0);
  light = green;
  c_expr { is_green() };
  if
  :: c_expr { both(&now.pair) == 6 } && light == green -> skip
  :: else -> assert(false)
  fi
}
