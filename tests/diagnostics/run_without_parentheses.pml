proctype worker() { skip }
init { run worker }
