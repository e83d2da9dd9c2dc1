/* Read-copy-update: READERS read through a pointer, UPDATERS replace what it points to and wait for a grace
   period (two flips of a pair of reader counters) before the old copy is reclaimed. Shared bytes and bits,
   a lock between the updaters.
   Sizes: small READERS=2 UPDATERS=2, medium READERS=3 UPDATERS=2. */
#ifndef READERS
#define READERS 2
#endif
#ifndef UPDATERS
#define UPDATERS 2
#endif

byte readers[2];
bit current;         /* the counter that new readers use */
bit pointer;         /* the copy that new readers see */
bool valid[2];
bool locked;

proctype reader() {
  bit phase, copy;
  do
  :: phase = current;
     readers[phase]++;
     copy = pointer;
     assert(valid[copy]);
     assert(valid[copy]);    /* a reader may look more than once */
     readers[phase]--
  od
}

proctype updater() {
  bit old;
  byte flips;
  do
  :: atomic { !locked -> locked = true };
     old = pointer;
     assert(!valid[1 - old]);
     valid[1 - old] = true;
     pointer = 1 - old;
     flips = 0;
     do
     :: flips < 2 ->
        current = 1 - current;
        readers[1 - current] == 0;
        flips++
     :: else -> break
     od;
     valid[old] = false;
     locked = false
  od
}

init {
  byte i;
  atomic {
    valid[0] = true;
    do
    :: i < READERS -> run reader(); i++
    :: else -> break
    od;
    i = 0;
    do
    :: i < UPDATERS -> run updater(); i++
    :: else -> break
    od
  }
}
