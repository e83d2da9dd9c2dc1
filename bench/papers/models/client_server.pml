/* Clients that ask servers for work and wait for the answer; every client and server have a channel for each direction.
   What "client/server interactions" in section 3 of "Performance Studies of PV" (Gopalakrishnan et al., 2001) are taken to be. */
#ifndef PAIRS
#define PAIRS 2
#endif

mtype = { ask, answer, busy };

chan request[PAIRS] = [1] of { mtype, byte };    /* to a server, from anybody */
chan reply[PAIRS] = [1] of { mtype };            /* to a client */

proctype client(byte me; chan in) {
    byte server;
    xr in;
    do
    :: server = 0;
       do
       :: server < PAIRS - 1 -> server++
       :: break
       od;
       request[server]!ask(me);
       if
       :: in?answer
       :: in?busy
       fi
    od
}

proctype server(chan in) {
    byte who;
    xr in;
    do
    :: in?ask(who);
       if
       :: reply[who]!answer
       :: reply[who]!busy
       fi;
       who = 0
    od
}

init {
    byte i;
    atomic {
        do
        :: i < PAIRS ->
           run client(i, reply[i]);
           run server(request[i]);
           i++
        :: else -> break
        od
    }
}
