// A false condition blocks forever.
//@ check: safety
//@ expect: verdict=violated kind=end-state states=3
active proctype P() { 0 }
active proctype Q() { skip }
