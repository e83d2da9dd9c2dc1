mtype:colour = { red, green };
mtype:fruit = { apple, pear };
mtype:colour c;
init {
	c = apple
}
