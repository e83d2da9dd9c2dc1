chan c = [2] of byte;
chan d = [2] { byte };
init { skip }
