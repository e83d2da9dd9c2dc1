chan c = [1] of { byte };
byte x;
trace {
	do
	:: c!1; x = 1
	od
}
init { c!1 }
