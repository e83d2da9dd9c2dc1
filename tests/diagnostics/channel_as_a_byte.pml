byte c = [2] of { byte };
init { skip }
