/* Packets in a mesh of SIDE x SIDE routers: first along the row, then along the column. An array of
   channels, typedefs, and a state of more than 200 bytes. PACKETS packets go from a corner to
   the opposite one.
   Sizes: small SIDE=4 PACKETS=1, medium SIDE=4 PACKETS=2. */
#ifndef SIDE
#define SIDE 4
#endif
#ifndef PACKETS
#define PACKETS 1
#endif
#define ROUTERS (SIDE * SIDE)

typedef Router {
  short passed;
  byte arrived;
  int load         /* the sum of the packets' weights */
};

chan input[ROUTERS] = [PACKETS] of { byte, byte, int };    /* destination, packet, weight */
Router router[ROUTERS];
byte delivered;

proctype route(byte x, y) {
  byte to, packet;
  int weight;
end:
  do
  :: input[y * SIDE + x]?to, packet, weight ->
     router[y * SIDE + x].passed++;
     if
     :: to % SIDE > x -> input[y * SIDE + x + 1]!to, packet, weight
     :: to % SIDE < x -> input[y * SIDE + x - 1]!to, packet, weight
     :: to % SIDE == x && to / SIDE > y -> input[(y + 1) * SIDE + x]!to, packet, weight
     :: to % SIDE == x && to / SIDE < y -> input[(y - 1) * SIDE + x]!to, packet, weight
     :: to == y * SIDE + x ->
        router[to].arrived++;
        router[to].load = router[to].load + weight;
        delivered++;
        assert(delivered <= PACKETS && router[to].passed <= PACKETS &&
               router[to].load < 70000 * (PACKETS + 1) * PACKETS)
     fi;
     d_step { to = 0; packet = 0; weight = 0 }
  od
}

init {
  byte i, from, goal;
  atomic {
    do
    :: i < ROUTERS -> run route(i % SIDE, i / SIDE); i++
    :: else -> break
    od;
    i = 0
  }
  do
  :: i < PACKETS ->
     if
     :: from = 0
     :: from = SIDE - 1
     :: from = ROUTERS - 1
     fi;
     goal = ROUTERS - 1 - from;
     input[from]!goal, i, 70000 * (i + 1);
     i++
  :: else -> break
  od
}
