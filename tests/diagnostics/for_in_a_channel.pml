typedef Packet { byte id };
chan c = [2] of { byte };
Packet p;
init { for (p in c) { skip } }
