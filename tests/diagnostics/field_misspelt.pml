typedef Packet { byte sender; byte receiver; bool ack };
Packet p;
init {
	p.sendr = 1;
	p.length = 2
}
