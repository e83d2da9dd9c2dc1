mtype = { request, reply };
byte turn;
bool flag[2];
active [2] proctype user() {
	byte other = 1 - _pid;
	flag[_pid] = TRUE;
	trun = othr;
	flg[0] == false;
	turn == requst;
	if
	:: esle -> skip
	fi
}
