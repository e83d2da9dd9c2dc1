proctype q() { skip }
proctype p() provided (run q() > 0) { skip }
init { run p() }
