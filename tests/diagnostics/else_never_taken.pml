byte x;
init {
	if
	:: x == 1 -> skip
	:: else ->
		if
		:: x == 2 -> skip
		:: else
		fi
	:: if
	   :: x == 3
	   :: else
	   fi
	fi
}
