// A c_expr that never becomes true: an invalid end state.
c_state "int gate" "Global"

active [2] proctype wait() {
  c_code { now.gate++; };
  c_expr { now.gate == 3 }
}
