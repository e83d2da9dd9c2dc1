/* Bounded lock-free queue for several producers and consumers (a ring of cells with sequence numbers).
   Positions are shorts, cells are a typedef in an array, compare-and-swap is atomic.
   Sizes: small PRODUCERS=2 CONSUMERS=2 ITEMS=1 CELLS=2, medium PRODUCERS=2 CONSUMERS=2 ITEMS=2 CELLS=2. */
#ifndef PRODUCERS
#define PRODUCERS 2
#endif
#ifndef CONSUMERS
#define CONSUMERS 2
#endif
#ifndef ITEMS
#define ITEMS 1
#endif
#ifndef CELLS
#define CELLS 2
#endif
#define TOTAL (PRODUCERS * ITEMS)

typedef Cell {
  short turn;
  byte item
};

Cell cell[CELLS];
short tail, head;
byte taken[TOTAL];    /* ghost: how often each item came out */

proctype producer(byte first) {
  byte sent;
  short pos, turn;
  do
  :: sent < ITEMS ->
     pos = tail;
     turn = cell[pos % CELLS].turn;
     if
     :: turn == pos ->
        if
        :: atomic { tail == pos -> tail = pos + 1 };
           cell[pos % CELLS].item = first + sent;
           cell[pos % CELLS].turn = pos + 1;
           sent++
        :: tail != pos
        fi
     :: else    /* full, or another producer was faster */
     fi
  :: else -> break
  od
}

proctype consumer() {
  byte item;
  short pos, turn;
  do
  :: head < TOTAL ->
     pos = head;
     turn = cell[pos % CELLS].turn;
     if
     :: turn == pos + 1 ->
        if
        :: atomic { head == pos -> head = pos + 1 };
           item = cell[pos % CELLS].item;
           cell[pos % CELLS].turn = pos + CELLS;
           taken[item]++;
           assert(taken[item] == 1)
        :: head != pos
        fi
     :: else
     fi
  :: head == TOTAL -> break
  od
}

init {
  byte i;
  atomic {
    do
    :: i < CELLS -> cell[i].turn = i; i++
    :: else -> break
    od;
    i = 0;
    do
    :: i < PRODUCERS -> run producer(i * ITEMS); i++
    :: else -> break
    od;
    i = 0;
    do
    :: i < CONSUMERS -> run consumer(); i++
    :: else -> break
    od
  }
}
