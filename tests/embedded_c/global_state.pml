// A counter that only C knows, as part of the state.
c_state "int count" "Global" "2"

active [2] proctype up() {
  do
  :: c_expr { now.count < 6 } -> c_code { now.count++; }
  :: c_expr { now.count >= 6 } -> break
  od
}
