/* A file transfer in layers: an application asks its session layer to send a file, the session layer connects, sends the pieces
   through a stop-and-wait link layer that loses and repeats messages, and closes; the other side answers. A model of its own in the style of the
   file transfer protocol of chapter 14 of "Design and Validation of Computer Protocols" (Holzmann, 1991), with which both
   "Performance Studies of PV" (2001) and "On the Costs and Benefits of using Partial-Order Methods" (1996) experiment. */
#ifndef PIECES
#define PIECES 2
#endif
#ifndef CAPACITY
#define CAPACITY 1
#endif

mtype = { transfer, done, failed, connect, accept, reject, piece, last, close, frame, ack };

/* Between application and session, session and link, and the wires. Index 0: the sending side, 1: the receiving side. */
chan from_user = [1] of { mtype };
chan to_user = [1] of { mtype };
chan down[2] = [CAPACITY] of { mtype, byte };
chan up[2] = [CAPACITY] of { mtype, byte };
chan wire[2] = [CAPACITY] of { mtype, bit, mtype, byte };


active proctype application() {
    do
    :: from_user!transfer;
       if
       :: to_user?done
       :: to_user?failed
       fi
    od
}

active proctype sender() {
    byte i;
end:
    do
    :: from_user?transfer ->
       down[0]!connect(0);
       if
       :: up[0]?reject(_) -> to_user!failed
       :: up[0]?accept(_) ->
          i = 1;
          do
          :: i < PIECES -> down[0]!piece(i); i++
          :: else -> break
          od;
          down[0]!last(i);
          i = 0;
          up[0]?close(_);
          to_user!done
       fi
    od
}

active proctype receiver() {
    byte n, expected;
end:
    do
    :: up[1]?connect(_) ->
       if
       :: down[1]!reject(0)
       :: down[1]!accept(0);
          expected = 1;
          do
          :: up[1]?piece(n) ->
             assert(n == expected);
             expected++
          :: up[1]?last(n) ->
             assert(n == expected && n == PIECES);
             break
          od;
          n = 0;
          expected = 0;
          down[1]!close(0)
       fi
    od
}

/* A wire that is full loses what is put on it. */
inline put(what, tag_, kind_, n_) {
    if
    :: out!what(tag_, kind_, n_)
    :: full(out)
    fi
}

/* One side of the link: sends what comes from above until it is acknowledged, hands up what comes from the wire once. */
proctype link(chan above, below, out, in) {
    bit sending, wanted, tag;
    mtype kind, other;
    byte n, m;
    xr in;
end:
idle:
    if
    :: above?kind(n) ->
       put(frame, sending, kind, n);
       goto waiting
    :: in?frame(tag, other, m) -> goto arrived
    :: in?ack(_, _, _)
    fi;
    goto idle;
waiting:
    if
    :: timeout -> put(frame, sending, kind, n)
    :: in?frame(tag, other, m) -> goto arrived
    :: in?ack(tag, _, _) ->
       if
       :: tag == sending ->
          sending = 1 - sending;
          kind = 0;
          n = 0;
          tag = 0;
          goto idle
       :: else -> tag = 0
       fi
    :: in?_(_, _, _)                    /* lost */
    fi;
    goto waiting;
arrived:
    if
    :: tag == wanted ->
       below!other(m);
       wanted = 1 - wanted
    :: else
    fi;
    put(ack, tag, other, 0);
    tag = 0;
    other = 0;
    m = 0;
    if
    :: kind == 0 -> goto idle
    :: else -> goto waiting
    fi
}

init {
    atomic {
        run link(down[0], up[0], wire[0], wire[1]);
        run link(down[1], up[1], wire[1], wire[0])
    }
}
