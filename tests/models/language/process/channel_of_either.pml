//@ check: safety
//@ expect: verdict=holds states=173
/* The owner of the channel is process 1 or 2, as the first one has ended by then or not; the channel is the same for the
   workers either way. Empty, it looks as if it were not there. */
byte done, sent;
init { run first(); run owner() }
proctype first() { done = 1 }
proctype owner() {
	chan joined = [2] of { byte };
	run worker(joined); run worker(joined);
	joined?_; joined?_
}
proctype worker(chan out) { out!_pid; sent++ }
