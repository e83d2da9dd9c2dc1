chan c = [1] of { byte };
byte x;
active proctype p() { xr c; c?x }
active proctype q() { xr c; c?x }
