// A second channel behind a comma is refused: Spin ends the declaration at the brace.
//@ check: safety
//@ expect: verdict=rejected
chan a = [1] of { byte }, b = [1] of { byte };
active proctype P() { a!1; b!1 }
