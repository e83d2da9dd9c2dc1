/* Processes of two proctypes start each other in either order, so that which shapes there are, and in which order they
 * are met, depends on the way that is taken. One value is hidden. */
hidden byte last_depth;
byte ended;
bit parity;

proctype A(byte depth)
{
	short balance = -1;

	if
	:: depth > 0 ->
		if
		:: run A(depth - 1)
		:: run B(depth - 1)
		fi
	:: depth == 0
	fi;
	last_depth = depth;
	balance = balance - depth;
	atomic { ended++; parity = !parity }
}

proctype B(byte depth)
{
	chan own = [2] of { byte, short };

	own!depth, 300;
	if
	:: depth > 0 -> run A(depth - 1)
	:: own!0, -1
	fi;
	own?depth, _;
	ended++
}

init
{
	if
	:: run A(1); run B(0)
	:: run B(1); run A(0)
	:: run B(2)
	fi
}
