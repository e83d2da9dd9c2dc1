/* Waits for a message that the channel cannot carry. */
chan reset = [1] of { byte };

active proctype button() { reset!1 }
active proctype timer() { reset?-1 }
