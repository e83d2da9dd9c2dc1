chan c[256] = [1] of { byte };
init { c[0]!1 }
