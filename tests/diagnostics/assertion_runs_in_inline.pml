/* The same through an inline. */
byte started;

proctype worker() { started++; assert(started < 4) }

inline launch() {
    assert(run worker())
}

init { launch(); launch() }
