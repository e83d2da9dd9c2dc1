//
active proctype a() { false; skip }
