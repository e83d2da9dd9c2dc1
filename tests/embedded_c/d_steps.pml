// C inside d_step and atomic, with tracked memory.
c_decl { int a; int b; }
c_track "&a" "sizeof(int)"
c_track "&b" "sizeof(int)" "UnMatched"
byte n;

active [2] proctype both() {
  byte k;
  do
  :: d_step { n < 3 -> c_code { a += 2; b = a; }; n++ }
  :: atomic { n > 0 && k < 2 -> c_code { a--; }; n--; k++ }
  :: n == 3 -> break
  od
}
