int x;
init {
	switch (x) {
	case 1: x = 2;
	}
}
