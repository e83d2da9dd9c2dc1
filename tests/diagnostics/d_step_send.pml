/* Nobody else can take part in the middle of a d_step. */
chan log = [0] of { byte };
byte n;

active proctype p() {
    do
    :: d_step { n = (n + 1) % 4; log!n }
    od
}
active proctype q() { do :: log?_ od }
