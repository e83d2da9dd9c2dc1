/* The channel has one field only. */
chan numbers = [1] of { byte };
chan pairs = [1] of { byte, byte };
byte a, b;

active proctype p() { numbers!1, 2; pairs!1, 2 }
active proctype q() { numbers?a; pairs?a, b; assert(a + b < 9) }
