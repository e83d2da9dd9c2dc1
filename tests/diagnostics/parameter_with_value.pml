proctype worker(byte id = 1) { skip }
init { run worker(2) }
