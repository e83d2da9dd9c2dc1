// The default of c_track is Matched; several sizes, and one tracked through a pointer.
c_decl { char small; short middle; int large[3]; int *p = large; }
c_track "&small" "1"
c_track "&middle" "sizeof(short)"
c_track "p" "sizeof(large)"

active [2] proctype turn() {
  do
  :: c_expr { small < 3 } -> c_code { small++; middle -= 5; large[small % 3]++; }
  :: c_expr { large[2] > 1 } -> break
  :: c_expr { small == 3 } -> c_code { small = 0; middle = 0; memset(large, 0, sizeof(large)); p = large; }
  od
}
