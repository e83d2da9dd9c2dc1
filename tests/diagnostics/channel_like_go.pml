chan c = make(chan, 3);
active proctype P() { c ! 3 }
