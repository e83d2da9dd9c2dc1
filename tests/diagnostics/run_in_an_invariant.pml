byte x;
proctype p() { skip }
invariant good run p() > 0
init { run p() }
