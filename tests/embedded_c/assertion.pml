// An assertion about what C has done, violated by one interleaving.
c_state "int balance" "Global" "10"
byte out;

active [2] proctype take() {
  c_expr { now.balance >= 7 } -> c_code { now.balance -= 7; };
  out++;
  assert(c_expr { now.balance >= 0 })
}
