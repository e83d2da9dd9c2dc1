/* The second process was forgotten. */
byte turn;

proctype ping() { do :: turn == 0 -> turn = 1 od }
proctype pong() { do :: turn == 1 -> turn = 0 od }

init { run ping() }
