byte i;
init { for (i : 5 .. 1) { skip } }
