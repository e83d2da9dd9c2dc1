proctype worker(byte id) { skip }
init { worker(1) }
