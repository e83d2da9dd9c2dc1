//@ check: safety
//@ expect: verdict=holds states=231593
//@ check: safety -D LOOK_ONCE
//@ expect: verdict=violated kind=assertion states=113095
//@ check: safety -D STORE
//@ expect: verdict=violated kind=assertion states=294743
/*
 * Who was first: how several workers insert into the same line of a hash table, without a lock.
 *
 * A line has a few slots, filled from the first on and never emptied. A worker looks whether its key is there; if not, it
 * counts the slots in use, looks again, and tries the free ones with a compare-and-swap, which fails when another has
 * taken the slot: then it looks whether that other one had the same key. Looking reads slot after slot, and others go on
 * meanwhile.
 *
 * A key that another worker has entered since the first look lies below the count, and is seen by the second look, or at or
 * above it, and is met by the swap. So of several workers with the same key exactly one is the first.
 *
 * Checked: a key is new for one worker alone. (`firsts` is a ghost variable.)
 *
 * Try this:
 *   -D LOOK_ONCE   no second look: a key that slipped in between the look and the count is missed
 *   -D STORE       a plain store instead of the compare-and-swap: an entry is overwritten
 */

#define WORKERS 3
#define SLOTS 3
#define KEYS 2			/* 1 .. KEYS; 0 is an empty slot */

byte slot[SLOTS];
byte firsts[KEYS + 1];

inline look()
{
	at = 0;
	do
	:: at < SLOTS && slot[at] == key -> goto seen
	:: at < SLOTS && slot[at] != key -> at++
	:: at == SLOTS -> break
	od
}

inline count()
{
	used = 0;
	do
	:: used < SLOTS && slot[used] != 0 -> used++
	:: else -> break
	od
}

active [WORKERS] proctype worker()
{
	byte key, at, used;

	if
	:: key = 1
	:: key = 2
	fi;
	look();
	count();
#ifndef LOOK_ONCE
	look();
#endif
	at = used;
	do
	:: at < SLOTS ->
#ifdef STORE
		if
		:: slot[at] == 0 -> slot[at] = key; goto first
#else
		if
		:: atomic { slot[at] == 0 -> slot[at] = key }; goto first
#endif
		:: slot[at] == key -> goto seen
		:: slot[at] != 0 && slot[at] != key -> at++
		fi
	:: else -> assert(false)	/* there is room for all */
	od;
first:	firsts[key]++;
	assert(firsts[key] == 1);
seen:	skip
}
