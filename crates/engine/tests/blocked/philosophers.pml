// 2: fork[_pid]; 1: fork[_pid]; 0: fork[_pid]; 2: fork[_pid] = false; 1: fork[_pid] = false; 0: fork[_pid] = false
bool fork[3] = true;
active [3] proctype philosopher() {
    do
    :: fork[_pid]; fork[_pid] = false;
       fork[(_pid + 1) % 3]; fork[(_pid + 1) % 3] = false;
       fork[_pid] = true; fork[(_pid + 1) % 3] = true
    od
}
