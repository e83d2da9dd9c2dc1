//@ check: safety
//@ expect: verdict=holds states=8777
//@ check: safety -D KEEP_WORKING
//@ expect: verdict=violated kind=assertion states=27709
//@ check: safety -D NO_SECOND_LOOK
//@ expect: verdict=violated kind=assertion states=10338
//@ check: safety -D NO_REST
//@ expect: verdict=violated kind=end-state states=8093
/*
 * A hash table that becomes larger while several workers insert into it.
 *
 * How keys are inserted into the index is another model (insertion.pml); here it is one step. But the index has room for a few
 * keys only. A worker holds a shared lock for some keys at a time. When there is no room it gives its share back, waits until it has the
 * lock alone, moves all keys to an index of twice the size, and tries again. Somebody else may have been faster: so it looks
 * first whether the room is still what it was. A worker who waits for the others must *rest*, that is, hold no share of the lock:
 * one of them may be waiting to have it alone.
 *
 * Checked: no key is lost or inserted twice, the index is never larger than needed, nobody waits forever. (`keys` is a ghost variable.)
 *
 * Try this:
 *   -D KEEP_WORKING     the index grows while others work: what they insert into the old one is lost
 *   -D NO_SECOND_LOOK   who waited to grow does so, even if another has just done it
 *   -D NO_REST          a worker waits for the others without resting: if one of them wants to grow, all wait forever
 */

#define WORKERS 2
#define EACH 3			/* keys of each worker */
#define TARGET (WORKERS * EACH)

byte room = 2;			/* of the index that is in use */
byte used;			/* keys in it */
byte keys;			/* keys that workers have inserted */
byte shares;			/* who holds the lock together with others */
bit alone;			/* who holds it alone */
byte arrived;			/* at the end */

active [WORKERS] proctype worker()
{
	byte mine, seen, moved;
	bit at_work;

	do
	:: mine < EACH ->
		if
		:: !at_work -> atomic { alone == 0 -> shares++; at_work = 1 }
		:: at_work
		fi;
		if
		:: atomic { used < room -> used++; keys++ }; mine++
		:: used >= room ->
			seen = room;
			shares--;
			at_work = 0;
#ifdef KEEP_WORKING
			atomic { alone == 0 -> alone = 1 };
#else
			atomic { shares == 0 && alone == 0 -> alone = 1 };
#endif
			if
#ifdef NO_SECOND_LOOK
			:: true ->
#else
			:: room == seen ->
#endif
				moved = used;		/* key by key, into the new index */
				atomic { room = room * 2; used = moved }
			:: else
			fi;
			alone = 0
		fi;
		if
		:: at_work -> shares--; at_work = 0	/* rests now and then */
		:: true
		fi
	:: else -> break
	od;
#ifndef NO_REST
	if
	:: at_work -> shares--; at_work = 0
	:: else
	fi;
#endif
	arrived++;
	arrived == WORKERS;
	assert(keys == TARGET && used == keys);
	assert(room < 2 * TARGET)
}
