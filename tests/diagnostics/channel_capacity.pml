chan c = [300] of { byte };
chan d = [-1] of { byte };
init { skip }
