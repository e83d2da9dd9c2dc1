//@ check: safety
//@ expect: verdict=holds states=12726
//@ check: safety -D NO_WRITE_BACK
//@ expect: verdict=violated kind=assertion states=51678
//@ check: safety -D NO_INVALIDATE
//@ expect: verdict=violated kind=assertion states=53100
//@ check: safety -D STALE_UPGRADE
//@ expect: verdict=violated kind=assertion states=42993
/*
 * The MSI cache coherence protocol: N caches and one memory line on a shared bus.
 *
 * A cache holds the line Modified (the only copy, newer than memory), Shared (a clean copy) or not at all (Invalid).
 * Reading or writing without the right to do so needs the bus. Whoever has the bus makes the others give way, one
 * after the other: a modified copy is written back, and before a write all other copies are thrown away. Meanwhile
 * the other processors go on using their caches, so the interleavings are many. The processors count together: each
 * write adds one to the value in the line, so that a lost write shows.
 *
 * Checked: every read returns the value written last (the ghost variable `latest`, modulo VALUES), a
 * modified copy is the only copy, and no deadlock.
 *
 * Try this:
 *   -D N=3             a third cache
 *   -D NO_WRITE_BACK   a reader takes the line from memory although a modified copy exists
 *   -D NO_INVALIDATE   a writer leaves the others' copies alone
 *   -D STALE_UPGRADE   the realistic one: a cache with a shared copy asks for the bus in order to write, and does not look
 *                      again when it gets it, although its copy was thrown away while it was waiting
 */

#ifndef N
#define N 2
#endif
#define VALUES 3
#define NOBODY 255

mtype:state = { modified, shared, invalid };

mtype:state line[N] = invalid;
byte copy[N];		/* the value in each cache */
byte memory;
byte bus = NOBODY;	/* who has the bus */
byte latest;		/* ghost: the value written last */

inline take_bus()	{ atomic { bus == NOBODY -> bus = _pid } }
inline release_bus()	{ bus = NOBODY }

/* Cache c sees that somebody else wants to read. */
inline snoop_read(c)
{
	d_step {
		if
		:: line[c] == modified ->
#ifndef NO_WRITE_BACK
			memory = copy[c];
#endif
			line[c] = shared
		:: else
		fi
	}
}

/* Cache c sees that somebody else wants to write. */
inline snoop_write(c)
{
	d_step {
		if
		:: line[c] == modified -> memory = copy[c]
		:: else
		fi;
#ifndef NO_INVALIDATE
		line[c] = invalid
#endif
	}
}

inline count_up()
{
	d_step {
		latest = (latest + 1) % VALUES;
		copy[_pid] = (copy[_pid] + 1) % VALUES;
		line[_pid] = modified;
		assert(copy[_pid] == latest);
		for (c : 0 .. N - 1) {
			assert(c == _pid || line[c] == invalid)
		}
		c = 0
	}
}

active [N] proctype processor()
{
	byte c;
	bool have_copy;

	do
	/* A read hit and a write hit need no bus. */
	:: atomic { line[_pid] != invalid -> assert(copy[_pid] == latest) }
	:: atomic { line[_pid] == modified -> count_up() }

	/* A read miss. */
	:: line[_pid] == invalid ->
		take_bus();
		for (c : 0 .. N - 1) {
			if
			:: c != _pid -> snoop_read(c)
			:: else
			fi
		}
		c = 0;
		d_step { copy[_pid] = memory; line[_pid] = shared };
		release_bus()

	/* A write without the right to write. */
	:: line[_pid] != modified ->
		have_copy = (line[_pid] == shared);
		take_bus();
#ifndef STALE_UPGRADE
		have_copy = (line[_pid] == shared);
#endif
		for (c : 0 .. N - 1) {
			if
			:: c != _pid -> snoop_write(c)
			:: else
			fi
		}
		c = 0;
		if
		:: have_copy
		:: else -> copy[_pid] = memory
		fi;
		have_copy = false;
		count_up();
		release_bus()

	/* The line is replaced by another one. */
	:: line[_pid] == shared -> line[_pid] = invalid
	:: line[_pid] == modified ->
		take_bus();
		d_step {
			if
			:: line[_pid] == modified -> memory = copy[_pid]
			:: else		/* written back for another cache meanwhile */
			fi;
			line[_pid] = invalid
		};
		release_bus()
	od
}
