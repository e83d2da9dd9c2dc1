byte len;
init { len = 1 }
