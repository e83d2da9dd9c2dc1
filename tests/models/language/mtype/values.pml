// The constants of one mtype declaration count from its last name back; a second declaration goes on.
//@ check: safety
//@ expect: verdict=holds states=4
mtype = { first, second };
mtype = { third };
mtype:other = { zero, one };
active proctype P() {
  mtype m = second;
  mtype:other o = one;
  assert(first == 2 && m == 1 && third == 3 && o == 1 && zero == 2);
  printm(m)
}
