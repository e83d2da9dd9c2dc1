/* A d_step looks at no other process. */
byte retries;

active proctype sender() {
    do
    :: d_step { timeout -> retries++; retries = retries % 3 }
    od
}
