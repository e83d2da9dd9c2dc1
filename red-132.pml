// seed 132, differs in: runtime
// Spin: 3 states, 0 errors
// ours: 1 states, 1 errors, runtime [a D_proctype with two executable statements]
byte g2;
active D_proctype P0() {
  do
  ::
    g2 = 0
  ::
    break
  od
}
