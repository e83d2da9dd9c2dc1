// The 256th process is a run-time error, not a `run` that gives 0.
//@ check: safety
//@ expect: verdict=violated kind=runtime
proctype C() { false }
init { byte i; do :: i < 255 -> run C(); i++ :: else -> break od }
