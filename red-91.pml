// seed 91, differs in: states
// Spin: 9 states, 0 errors
// ours: 10 states, 0 errors
byte g1;
active proctype P0() {
  bool l8;
  l8 = g1;
  g1 = 0
}
init priority 3 {
  select (g1 : 0 .. 1)
}
