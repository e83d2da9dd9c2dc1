/* A door with two keys and a bell: fifty lines, for measuring how long the answer to a small model takes. */
mtype = { knock, open, close };

chan bell = [2] of { mtype, byte };
chan door = [0] of { mtype };

bool is_open;
byte inside;
byte rung;

inline enter() {
  atomic { inside++; assert(inside <= 2) }
}

inline leave() {
  inside--
}

proctype guest(byte name) {
  byte visits;
  do
  :: visits < 2 ->
     bell!knock(name);
     is_open -> enter();
     leave();
     visits++
  :: else -> break
  od
}

proctype porter() {
  byte who;
end:
  do
  :: bell?knock(who) ->
     rung++;
     door!open;
     door!close
  od
}

proctype hinge() {
end:
  do
  :: door?open -> is_open = true
  :: door?close -> skip
  od
}

init { atomic { run porter(); run hinge(); run guest(1); run guest(2) } }
