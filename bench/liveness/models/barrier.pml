/* A barrier with a sense that turns: nobody is a phase ahead, so phases come and go forever. */
#ifndef N
#define N 4
#endif
#ifndef WORK
#define WORK 4
#endif
bool sense;
byte arrived;

active [N] proctype worker() {
  bool mine;
  byte i;
  do
  :: i = 0;
    do
    :: i < WORK -> i++
    :: i < WORK -> i = i + 2
    :: i >= WORK -> break
    od;
    mine = !mine;
    if
    :: atomic { arrived == N - 1 -> arrived = 0; sense = mine }
    :: atomic { arrived < N - 1 -> arrived++ }; sense == mine
    fi
  od
}

ltl turns { ([] <> sense) && ([] <> !sense) }
ltl ordered { [] (arrived == N - 1 -> <> (arrived == 0)) }
