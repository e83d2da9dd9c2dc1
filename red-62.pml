// seed 62, differs in: states
// Spin: 131328 states, 0 errors
// ours: 1280 states, 0 errors
byte g2;
chan q5[2] = [1] of { bool };
active proctype P1() {
  do
  ::
    g2++
  od
}
init {
  q5[0]!g2
}
