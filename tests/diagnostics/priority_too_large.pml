proctype p() { skip }
init { run p() priority 300 }
