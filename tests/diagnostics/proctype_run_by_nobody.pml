/* Started only by one that never runs itself. */
byte done;

proctype worker() { done = 1 }
proctype master() { run worker() }

active proctype watcher() { done == 1 }
