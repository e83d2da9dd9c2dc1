byte n = 3;
chan c = [n + 1] of { byte };
init { skip }
