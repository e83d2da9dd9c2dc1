/* Readers and writers over counting semaphores, writers preferred; ordinary blocking waits (test and take
   in one atomic step).
   Sizes: small READERS=4 WRITERS=3, medium READERS=6 WRITERS=4. */
#ifndef READERS
#define READERS 4
#endif
#ifndef WRITERS
#define WRITERS 3
#endif

#define TAKE(s) atomic { s > 0 -> s-- }
#define GIVE(s) s++

byte door = 1, room = 1, tally = 1, writers_tally = 1;
byte reading, waiting, writing;

active [READERS] proctype reader() {
  do
  :: TAKE(door);
     TAKE(tally);
     reading++;
     if
     :: reading == 1 -> TAKE(room)
     :: else
     fi;
     GIVE(tally);
     GIVE(door);
     assert(writing == 0);
     TAKE(tally);
     reading--;
     if
     :: reading == 0 -> GIVE(room)
     :: else
     fi;
     GIVE(tally)
  od
}

active [WRITERS] proctype writer() {
  do
  :: TAKE(writers_tally);
     waiting++;
     if
     :: waiting == 1 -> TAKE(door)
     :: else
     fi;
     GIVE(writers_tally);
     TAKE(room);
     writing++;
     assert(writing == 1 && reading <= READERS);
     writing--;
     GIVE(room);
     TAKE(writers_tally);
     waiting--;
     if
     :: waiting == 0 -> GIVE(door)
     :: else
     fi;
     GIVE(writers_tally)
  od
}
