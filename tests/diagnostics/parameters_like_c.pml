proctype worker(byte id, byte count) { skip }
init { run worker(1, 2) }
