byte x, i;
init { for (i in x) { skip } }
