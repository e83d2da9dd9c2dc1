chan c = [1] of { byte };
byte x;
init { c?_; x = _ }
