/* Distributed mutual exclusion in log(n) messages on average (Trehel and Naimi, 1987): requests travel to the root of a tree, which
   turns itself round on the way; who waits is a queue spread over the sites. The model of section 5 of "On the Costs and
   Benefits of using Partial-Order Methods" (Godefroid, 1996) was not printed: two processes a site, which share its variables, as
   is said there. With ROUNDS each user asks only so often; without, forever. */
#ifndef N
#define N 3
#endif
#define NOBODY 255

mtype = { request, token };
chan to[N] = [N] of { mtype, byte };

byte father[N];         /* where to send a request; NOBODY: I am the root */
byte next[N];           /* to whom the token goes after me */
bool asking[N];
bool has_token[N];
byte inside;

/* The user of a site. */
proctype user(byte me) {
    byte whom;
#ifdef ROUNDS
    byte left = ROUNDS;
#endif
    do
#ifdef ROUNDS
    :: left == 0 -> break
    :: atomic {
           left > 0 -> left--;
#else
    :: atomic {
#endif
           asking[me] = true;
           whom = father[me];
           father[me] = NOBODY
       }
       if
       :: whom != NOBODY -> to[whom]!request(me)
       :: else
       fi;
       whom = 0;
       has_token[me];
       inside++;
       assert(inside == 1);
       inside--;
       atomic {
           asking[me] = false;
           whom = next[me];
           if
           :: whom != NOBODY ->
              next[me] = NOBODY;
              has_token[me] = false
           :: else
           fi
       }
       if
       :: whom != NOBODY -> to[whom]!token(0)
       :: else
       fi;
       whom = 0
    od
}

/* Answers the messages of others, each in one step: the channels are long enough for every message that can be under way. */
proctype site(byte me; chan in) {
    byte who;
    xr in;
end:
    do
    :: atomic {
           in?request(who);
           if
           :: father[me] != NOBODY -> to[father[me]]!request(who)
           :: father[me] == NOBODY && asking[me] -> next[me] = who
           :: father[me] == NOBODY && !asking[me] ->
              has_token[me] = false;
              to[who]!token(0)
           fi;
           father[me] = who;
           who = 0
       }
    :: in?token(_) -> has_token[me] = true
    od
}

init {
    byte i;
    atomic {
        do
        :: i < N ->
           next[i] = NOBODY;
           father[i] = (i == 0 -> NOBODY : 0);
           has_token[i] = (i == 0);
           run user(i);
           run site(i, to[i]);
           i++
        :: else -> break
        od;
        i = 0
    }
}
