mtype:colour = { red, green };
mtype:fruit = { apple };
proctype paint(mtype:colour c) { skip }
mtype:colour mine = red;
init {
	run paint(mine);
	run paint(apple)
}
