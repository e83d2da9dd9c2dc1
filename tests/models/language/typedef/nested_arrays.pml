// Structures with arrays in arrays of structures.
//@ check: safety
//@ expect: verdict=holds states=5
typedef In { byte v[2] };
typedef Out { In i[2]; bit b };
Out o[2];
active proctype P() {
  o[1].i[0].v[1] = 7;
  o[0].b = 1;
  assert(o[1].i[0].v[1] == 7 && o[0].i[0].v[1] == 0 && o[1].b == 0)
}
