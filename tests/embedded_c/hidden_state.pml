// A variable of C that does not make states different.
c_state "int steps" "Hidden" "0"
byte x;

active proctype walk() {
  do
  :: x < 4 -> c_code { steps++; }; x++
  :: x == 4 -> x = 0
  od
}
