// A send with more fields than any channel has is refused.
//@ check: safety
//@ expect: verdict=rejected
chan q = [1] of { byte };
active proctype P() { q!1,2 }
