/* The proctype does by hand what the inline does. */
byte ticket, next;

inline take(mine) { atomic { mine = ticket; ticket++ } }

active [2] proctype p() {
    byte mine;
    mine = ticket;
    ticket++;
    mine == next;
    next++
}
