/* What if the level is neither low nor high? */
byte level = 5, pump;

active proctype control() {
    do
    :: atomic {
           pump = 0;
           if
           :: level < 3 -> pump = 1
           :: level > 7 -> pump = 2
           fi
       }
    od
}
active proctype tank() {
    do
    :: pump == 1 -> level++
    :: pump == 2 -> level--
    od
}
