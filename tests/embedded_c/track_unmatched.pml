// Memory that is put back when the search goes another way, but makes no states different.
c_decl { int visits; int total; }
c_track "&visits" "sizeof(int)" "UnMatched"
c_track "&total" "sizeof(int)"
byte x;

active [2] proctype go() {
  do
  :: x < 3 -> atomic { c_code { visits++; total += visits > 0; }; x++ }
  :: x >= 3 -> break
  od
}
