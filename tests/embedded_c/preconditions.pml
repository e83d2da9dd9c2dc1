// Both forms of [ ... ]: what must hold before C is executed.
byte x;

active proctype drop() {
  do
  :: c_expr [now.x < 9] { now.x < 4 } -> c_code [now.x + 1 < 256] { now.x++; }
  :: else -> break
  od;
  c_code [now.x == 4] { now.x = 7; };
  assert(x == 7)
}
