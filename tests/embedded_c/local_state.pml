// Each process has a variable and an array of C.
c_state "short own" "Local worker" "3"
c_state "unsigned char seen[3]" "Local worker"
byte sum;

init { run worker(1); run worker(2) }

proctype worker(byte step) {
  byte i;
  do
  :: c_expr { Pworker->own > 0 } ->
       c_code { Pworker->own--; Pworker->seen[Pworker->own % 3] += Pworker->step; now.sum += Pworker->step; }
  :: else -> break
  od;
  assert(c_expr { Pworker->seen[0] == Pworker->step });
  i = c_expr { Pworker->own + 7 };
  assert(i == 7)
}
