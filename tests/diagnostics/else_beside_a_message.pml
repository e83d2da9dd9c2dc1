chan c = [1] of { byte };
byte x;
active proctype p() {
	xr c;
	if
	:: c?x
	:: else
	fi
}
