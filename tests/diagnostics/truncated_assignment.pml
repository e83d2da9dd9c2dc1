/* A timer that does not fit into its variable. */
byte timer;

active proctype clock() {
    timer = 300;
    do
    :: timer > 0 -> timer--
    :: else -> break
    od
}
