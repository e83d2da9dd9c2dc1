int twice(int n) { return 2 * n }
void nothing(void) { }
active proctype P() { int x; x = twice(3); return }
