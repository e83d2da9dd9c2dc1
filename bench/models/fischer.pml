/* Fischer's mutual exclusion in discrete time: N processes write the lock within WRITE ticks and read it
   again after more than WRITE. The clock ticks in one d_step over an array of short timers.
   Sizes: small N=5, medium N=6 WRITE=3. */
#ifndef N
#define N 5
#endif
#ifndef WRITE
#define WRITE 2
#endif

short timer[N];      /* ticks left; -1 = not running */
bool urgent[N];      /* must move before its timer is over */
byte owner;          /* 0 = nobody */
byte inside;

active [N] proctype process() {
  timer[_pid] = -1;
  do
  :: atomic { owner == 0 -> timer[_pid] = WRITE; urgent[_pid] = true };
     atomic { owner = _pid + 1; urgent[_pid] = false; timer[_pid] = WRITE + 1 };
     atomic { timer[_pid] == 0 -> timer[_pid] = -1 };
     if
     :: owner == _pid + 1 ->
        inside++;
        assert(inside == 1);
        inside--;
        owner = 0
     :: owner != _pid + 1
     fi
  od
}

active proctype clock() {
  byte i;
  bool blocked;
  do
  :: d_step {
       i = 0;
       blocked = false;
       do
       :: i < N -> blocked = blocked || (urgent[i] && timer[i] == 0); i++
       :: else -> break
       od;
       i = 0;
       do
       :: i < N && !blocked -> timer[i] = (timer[i] > 0 -> timer[i] - 1 : timer[i]); i++
       :: else -> break
       od;
       i = 0;
       blocked = false
     }
  od
}
