chan c[2] = [1] of { byte };
byte x;
active proctype p() { xr c[0]; c[0]?x }
