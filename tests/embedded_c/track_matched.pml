// Memory of C that is tracked, and part of what makes states different.
c_decl {
  \#include <string.h>
  typedef struct Ring { unsigned char at[4]; int head; } Ring;
  Ring ring;
  static int wrapped(int i) { return (i + 1) % 4; }
}
c_track "&ring" "sizeof(Ring)" "Matched"

active proctype put() {
  byte n;
  do
  :: n < 3 -> c_code { ring.at[ring.head] = Pput->n + 1; ring.head = wrapped(ring.head); }; n++
  :: n == 3 -> n = 0
  od
}

active proctype clear() {
end:
  do
  :: c_expr { ring.at[0] > 0 && ring.head == 0 } -> c_code { memset(&ring, 0, sizeof(Ring)); }
  od
}
