byte n;
byte a[n];
chan c[n] = [1] of { byte };
active [n] proctype p() { skip }
