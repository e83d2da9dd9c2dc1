/* The progress that is looked for has another name. */
byte x;

active proctype p() {
    do
    :: x = 1 - x;
progres_1:
       assert(x < 2)
    od
}
