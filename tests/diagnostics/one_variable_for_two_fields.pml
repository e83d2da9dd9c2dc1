chan c = [1] of { byte, byte };
byte x;
init { c!1,2; c?x,x }
