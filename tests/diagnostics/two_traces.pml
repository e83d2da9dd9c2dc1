chan c = [1] of { byte };
trace { c!1 }
notrace { c!2 }
init { c!1 }
