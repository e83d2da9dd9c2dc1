chan c = [1] of { byte };
never { c!1 }
init { skip }
