// A false condition blocks for ever.
//@ check: safety
//@ expect: verdict=violated kind=end-state states=3
active proctype P() { 0 }
active proctype Q() { skip }
