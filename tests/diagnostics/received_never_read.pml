/* The number of a message is received and ignored. */
mtype = { data, ack };
chan to = [1] of { mtype, byte };
chan back = [1] of { mtype };

active proctype sender() { to!data, 7; back?ack }
active proctype receiver() {
    byte number;
    to?data, number;
    back!ack
}
