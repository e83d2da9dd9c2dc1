/* Cache coherence (MESI) with a split bus: N caches, LINES lines. A request is posted, then served in one
   long atomic sequence that snoops all caches. Every copy carries the version that it holds. Atomic-heavy,
   arrays in typedefs, mtype data.
   Sizes: small N=2 LINES=2, medium N=2 LINES=3, large N=5 LINES=1. */
#ifndef N
#define N 2
#endif
#ifndef LINES
#define LINES 2
#endif
#define VERSIONS 2

/* Of a copy and of a request; `invalid` and `none` are what they start with. */
#define invalid 0
#define none 0
mtype = { shared, exclusive, modified };
mtype = { read, write };

typedef Line {
  mtype state[N];
  byte version[N];
  byte memory;
  byte newest       /* ghost: the version that a read must see */
};

typedef Request {
  mtype kind;
  byte line
};

Line line[LINES];
Request request[N];

/* The others give up their exclusive right to the line; a modified copy is written back first. */
inline snoop(which, me, lost) {
  k = 0;
  do
  :: k < N && k != me && line[which].state[k] != invalid ->
     if
     :: line[which].state[k] == modified -> line[which].memory = line[which].version[k]
     :: else
     fi;
     line[which].state[k] = lost;
     if
     :: lost == invalid -> line[which].version[k] = 0
     :: else
     fi;
     others++;
     k++
  :: k < N && (k == me || line[which].state[k] == invalid) -> k++
  :: k == N -> break
  od;
  k = 0
}

active [N] proctype processor() {
  byte l;
  do
  :: l = 0;
     do
     :: l < LINES - 1 -> l++
     :: break
     od;
     if
     :: line[l].state[_pid] == invalid -> request[_pid].line = l; request[_pid].kind = read
     :: line[l].state[_pid] != invalid && line[l].state[_pid] != modified ->
        request[_pid].line = l; request[_pid].kind = write
     :: atomic {
          line[l].state[_pid] == exclusive || line[l].state[_pid] == modified ->
          line[l].state[_pid] = modified;
          line[l].newest = (line[l].newest + 1) % VERSIONS;
          line[l].version[_pid] = line[l].newest
        }
     :: atomic { line[l].state[_pid] == modified -> line[l].memory = line[l].version[_pid];
                 line[l].state[_pid] = invalid; line[l].version[_pid] = 0 }    /* evicted */
     :: line[l].state[_pid] != invalid ->
        assert(line[l].version[_pid] == line[l].newest || line[l].state[_pid] == invalid)
     fi;
     request[_pid].kind == none
  od
}

active [N] proctype port() {    /* the bus, seen from processor _pid - N */
  byte l, k, others;
  do
  :: atomic {
       request[_pid - N].kind != none ->
       l = request[_pid - N].line;
       if
       :: request[_pid - N].kind == read ->
          snoop(l, _pid - N, shared);
          line[l].version[_pid - N] = line[l].memory;
          line[l].state[_pid - N] = (others > 0 -> shared : exclusive);
          assert(line[l].version[_pid - N] == line[l].newest)
       :: request[_pid - N].kind == write ->
          snoop(l, _pid - N, invalid);
          line[l].newest = (line[l].newest + 1) % VERSIONS;
          line[l].version[_pid - N] = line[l].newest;
          line[l].state[_pid - N] = modified
       fi;
       others = 0;
       l = 0;
       request[_pid - N].line = 0;
       request[_pid - N].kind = none
     }
  od
}
