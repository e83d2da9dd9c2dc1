// An inline can return a value.
//@ check: safety
//@ expect: verdict=holds states=8
inline half(n) {
  if
  :: n % 2 == 0 -> return n / 2
  :: else -> return 0
  fi
}
active proctype P() { byte x; x = half(6); assert(x == 3); x = half(5); assert(x == 0) }
