/* The others get in where the condition waits. */
bool free = true;
byte owner;

active [2] proctype p() {
    atomic {
        owner = _pid;
        free -> free = false
    };
    assert(owner == _pid);
    free = true
}
