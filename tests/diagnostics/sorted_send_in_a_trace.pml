chan c = [1] of { byte };
trace { c!!1 }
init { c!1 }
