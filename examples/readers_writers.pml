//@ check: safety
//@ expect: verdict=holds states=685
//@ check: safety -D UNPROTECTED -D READERS=2
//@ expect: verdict=violated kind=assertion states=8199
//@ check: safety -D FORGETFUL
//@ expect: verdict=violated kind=end-state states=668
/*
 * Readers and writers with two semaphores (Courtois, Heymans and Parnas, 1971): any number of readers may be in the
 * room together, a writer only alone.
 *
 * The first reader takes the room for all of them and the last one gives it back; `mutex` protects the counter that
 * says who is first and last.
 *
 * Checked: a writer is alone in the room, no semaphore is released twice, and there is no deadlock. Not checked:
 * fairness. A steady stream of readers keeps the writers out forever, which is the known weakness of this solution.
 *
 * Try this:
 *   -D UNPROTECTED   readers count without `mutex`: two of them can both believe to be the first
 *   -D FORGETFUL     the last reader does not give the room back: deadlock
 */

#ifndef READERS
#define READERS 3
#endif
#ifndef WRITERS
#define WRITERS 2
#endif

byte mutex = 1, room = 1;	/* binary semaphores: 1 is free */
byte reading;		/* the readers' counter, protected by mutex */

byte readers_inside, writers_inside;	/* ghosts */

inline down(semaphore)
{
	atomic { semaphore > 0 -> semaphore-- }
}

inline up(semaphore)
{
	d_step { assert(semaphore == 0); semaphore = 1 }
}

#ifdef UNPROTECTED
#define ENTER skip
#define LEAVE skip
#else
#define ENTER down(mutex)
#define LEAVE up(mutex)
#endif

active [READERS] proctype reader()
{
	do
	:: ENTER;
	   reading++;
	   if
	   :: reading == 1 -> down(room)
	   :: else
	   fi;
	   LEAVE;

	   readers_inside++;
	   assert(writers_inside == 0);
	   readers_inside--;

	   ENTER;
	   reading--;
	   if
#ifndef FORGETFUL
	   :: reading == 0 -> up(room)
#endif
	   :: else
	   fi;
	   LEAVE
	od
}

active [WRITERS] proctype writer()
{
	do
	:: down(room);
	   writers_inside++;
	   assert(writers_inside == 1 && readers_inside == 0);
	   writers_inside--;
	   up(room)
	od
}
