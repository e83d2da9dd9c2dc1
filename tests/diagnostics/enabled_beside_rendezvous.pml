chan c = [0] of { byte };
active proctype p() { enabled(1) }
active proctype q() { c!1 }
