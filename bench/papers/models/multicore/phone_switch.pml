/* A telephone switch with LINES subscribers. They lift, dial and hang up by messages to the exchange; it answers by what
   one hears on the line. A call costs PRICE units of a CREDIT that all share; without credit one hears the busy tone.
   Accept label: the cycle in which the exchange charges a call. While it does so the subscribers come to a halt, and the
   credit ends, so no cycle is accepted, though subscribers lift and hang up forever. */
#ifndef LINES
#define LINES 2
#endif
#ifndef CREDIT
#define CREDIT 2
#endif
#ifndef PRICE
#define PRICE 1
#endif
#ifndef CAP
#define CAP 1
#endif
#define NOBODY LINES

mtype = { lift, dial, hang };
mtype = { silent, bell, dial_tone, busy_tone, ring_back, voice };
chan events = [CAP] of { mtype, byte, byte };
mtype heard[LINES] = silent;
byte peer[LINES] = NOBODY;
bool answered[LINES];

proctype subscriber(byte me) {
  byte whom;
end:
  do
  :: events!lift, me, 0 ->
     do
     :: answered[me] ->
        answered[me] = false;
        if
        :: heard[me] == dial_tone ->
           whom = (me + 1) % LINES;
           do
           :: whom != (me + LINES - 1) % LINES -> whom = (whom + 1) % LINES
           :: break
           od;
           events!dial, me, whom;
           whom = 0
        :: break
        fi
     od;
     events!hang, me, 0;
     answered[me];
     answered[me] = false
  od
}

active proctype exchange() {
  mtype event;
  byte who, whom, units, credit = CREDIT;
end:
  do
  :: events?event, who, whom ->
     if
     :: event == lift && heard[who] == bell ->
        do
        :: units < PRICE && credit > 0 ->
accept_charge:
           credit--;
           units++
        :: else -> break
        od;
        units = 0;
        heard[who] = voice;
        heard[peer[who]] = voice
     :: event == lift && heard[who] != bell -> heard[who] = dial_tone
     :: event == dial ->
        if
        :: heard[whom] == silent && credit > 0 ->
           heard[whom] = bell;
           peer[whom] = who;
           peer[who] = whom;
           heard[who] = ring_back
        :: else -> heard[who] = busy_tone
        fi
     :: event == hang ->
        if
        :: peer[who] != NOBODY ->
           whom = peer[who];
           heard[whom] = (heard[whom] == bell -> silent : busy_tone);
           peer[whom] = NOBODY;
           peer[who] = NOBODY
        :: else
        fi;
        heard[who] = silent
     fi;
     assert(peer[who] == NOBODY || peer[peer[who]] == who);
     event = 0;
     whom = 0;
     answered[who] = true;
     who = 0
  od
}

init {
  byte i;
  atomic {
    do
    :: i < LINES -> run subscriber(i); i++
    :: else -> break
    od
  }
}
