proctype p() { skip }
ltl good { [] (run p() > 0) }
init { run p() }
