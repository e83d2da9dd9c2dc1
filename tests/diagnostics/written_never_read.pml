/* Counts what nobody looks at. */
byte entries;
bit lock;

active [2] proctype user() {
    do
    :: atomic { lock == 0 -> lock = 1 };
       entries++;
       lock = 0
    od
}
