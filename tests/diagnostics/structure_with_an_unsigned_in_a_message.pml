typedef Packet { unsigned id : 3 };
chan c = [1] of { Packet };
init { skip }
