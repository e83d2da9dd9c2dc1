/* The break stands in the inner loop. */
byte rounds;

active proctype p() {
    do
    :: rounds < 3 ->
       do
       :: rounds++; break
       od
    od;
    assert(rounds == 3)
}
