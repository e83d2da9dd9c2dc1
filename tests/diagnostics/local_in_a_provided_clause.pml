proctype p(byte x) provided (x > 0) { skip }
init { run p(1) }
