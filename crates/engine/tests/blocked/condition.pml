// 1: wants[_pid] = true; 0: wants[_pid] = true; 1: turn = other; 0: turn = other
byte turn = 1;
bool wants[2];
active [2] proctype user() {
    byte other = 1 - _pid;
    wants[_pid] = true;
    turn = other;
    !wants[other] || turn == _pid;
    wants[_pid] = false
}
