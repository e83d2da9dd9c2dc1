/* A lift with FLOORS floors and RIDERS riders: a controller with else and timeout, an alarm that interrupts
   the cabin by unless, and a d_step that plans the next move.
   Sizes: small FLOORS=2 RIDERS=2, medium FLOORS=3 RIDERS=2. */
#ifndef FLOORS
#define FLOORS 2
#endif
#ifndef RIDERS
#define RIDERS 2
#endif

mtype = { up, down, idle };
mtype way = idle;
byte at;
bool open, alarm;
bool called[FLOORS];
byte pressed;        /* how many floors are called */
byte aboard;

inline call(floor) {
  atomic {
    if
    :: !called[floor] -> called[floor] = true; pressed++
    :: else
    fi
  }
}

inline plan() {
  d_step {
    f = 0;
    above = false;
    below = false;
    do
    :: f < FLOORS ->
       if
       :: called[f] && f > at -> above = true
       :: called[f] && f < at -> below = true
       :: else
       fi;
       f++
    :: else -> break
    od;
    f = 0;
    if
    :: way != down && above -> way = up
    :: way != up && below -> way = down
    :: above && !(way != up && below) -> way = up
    :: below && !(way != down && above) -> way = down
    :: else -> way = idle
    fi;
    above = false;
    below = false
  }
}

active proctype cabin() {
  byte f;
  bool above, below;
travel:
  {
    do
    :: atomic { called[at] -> open = true; called[at] = false; pressed-- }
    :: open && !called[at] -> open = false
    :: !open && !called[at] ->
       plan();
       if
       :: way == up -> assert(!open); at++
       :: way == down -> assert(!open); at--
       :: else -> pressed > 0      /* nothing to do */
       fi;
       assert(at < FLOORS)
    od
  } unless {
    alarm -> open = false; way = idle
  };
  /* after an alarm: down to the ground floor, doors open, all is well */
  do
  :: at > 0 -> at--
  :: else -> break
  od;
  open = true;
  alarm = false;
  goto travel
}

active [RIDERS] proctype rider() {
  byte from, goal;
  do
  :: goal = 0;
     do
     :: goal < FLOORS - 1 -> goal++
     :: goal != from -> break
     od;
     do
     :: !(at == from && open) -> call(from); (at == from && open) || alarm
     :: atomic { at == from && open -> aboard++ }; break
     od;
     do
     :: !(at == goal && open) -> call(goal); (at == goal && open) || alarm
     :: atomic { at == goal && open -> aboard-- }; break
     od;
     assert(aboard < RIDERS);
     from = goal
  od
}

active proctype guard() {
  do
  :: timeout -> alarm = true      /* a rider missed the open door and nobody calls */
  :: atomic { !alarm && aboard > 0 -> alarm = true }
  od
}
