/* A single = in an option that looks like the others. */
mtype = { idle, busy, failed };
mtype state = idle;

active proctype server() {
    do
    :: state == idle -> state = busy
    :: state = busy -> state = failed
    :: state == failed -> break
    od
}
