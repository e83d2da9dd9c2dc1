proctype worker() { skip }
proctype worker(byte id) { skip }
init { run worker() }
