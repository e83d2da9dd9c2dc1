/* A bit for a number of three values. */
byte turn = 2;

proctype player(bit me) { turn == me -> turn = 0 }

init { run player(0); run player(1); run player(2) }
