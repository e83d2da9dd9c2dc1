// A claim and a formula about C.
c_state "int level" "Global"
byte x;

active proctype tide() {
  do
  :: c_expr { now.level < 3 } -> c_code { now.level++; }
  :: c_expr { now.level > 0 } -> c_code { now.level = 0; }
  od
}

ltl low { [] <> c_expr { now.level == 0 } }
