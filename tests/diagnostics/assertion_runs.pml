/* Each check of the assertion starts a process. */
byte started;

proctype worker() { started++; assert(started < 4) }

init { assert(run worker() != 0) }
