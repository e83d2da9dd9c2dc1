// Using a channel variable without a channel is a run-time error.
//@ check: safety
//@ expect: verdict=violated kind=runtime
chan other = [1] of { byte };
active proctype P() { chan c; other!1; c!1 }
