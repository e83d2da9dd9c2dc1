/* Because of the single =, the else is never taken. */
bool ready;

active proctype p() {
    if
    :: ready = true -> printf("go\n")
    :: else -> printf("wait\n")
    fi;
    assert(ready)
}
