// Assigning a whole structure is refused.
//@ check: safety
//@ expect: verdict=rejected
typedef T { byte x };
T a, b;
active proctype P() { a = b }
