/* This option is switched off; what follows is dead. */
byte mode;

active proctype p() {
    do
    :: mode < 2 -> mode++
    :: false -> mode = 0
    :: mode == 2 -> break
    od
}
