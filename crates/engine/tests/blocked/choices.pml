//
mtype = { ping };
chan q = [1] of { mtype };
byte x;
active proctype p() {
end:
    do
    :: q?ping
    :: x == 1 -> skip
    :: atomic { x > 2 -> x = 0 }
    :: d_step { x > 3 -> x = 0 }
    od unless {
        x == 9
    }
}
active proctype q0() { x == 5 -> q!ping; x = 9 }
