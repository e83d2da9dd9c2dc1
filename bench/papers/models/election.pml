/* Leader election in a one-way ring by comparing with two neighbours (Dolev, Klawe and Rodeh, 1982), as in "Model Checking" (Clarke,
   Grumberg and Peled, 1999), to which section 3 of "Performance Studies of PV" refers. Numbers are given out at random. */
#ifndef N
#define N 4
#endif
#define NUMBER(i) ((i + I) % N + 1)
#ifndef I
#define I 1
#endif
#define CAPACITY (2 * N)

mtype = { one, two, winner };
chan q[N] = [CAPACITY] of { mtype, byte };
byte leaders;

proctype node(chan in, out; byte mine) {
    bool active_ = true, knows;
    byte number, neighbour, maximum = mine;
    xr in;
    xs out;
    out!one(mine);
end:
    do
    :: in?one(number) ->
       if
       :: active_ ->
          if
          :: number != maximum ->
             out!two(number);
             neighbour = number
          :: else ->
             assert(number == N);
             knows = true;
             out!winner(number)
          fi
       :: else -> out!one(number)
       fi
    :: in?two(number) ->
       if
       :: active_ ->
          if
          :: neighbour > number && neighbour > maximum ->
             maximum = neighbour;
             out!one(neighbour)
          :: else -> active_ = false
          fi
       :: else -> out!two(number)
       fi
    :: in?winner(number) ->
       if
       :: number != mine
       :: else ->
          leaders++;
          assert(leaders == 1)
       fi;
       if
       :: knows
       :: else -> out!winner(number)
       fi;
       break
    od
}

init {
    byte i;
    atomic {
        i = 0;
        do
        :: i < N ->
           run node(q[i], q[(i + 1) % N], NUMBER(i));
           i++
        :: else -> break
        od
    }
}
