//
byte gate;
active proctype p() provided (gate == 1) { skip }
active proctype q() { gate = 1; gate = 2 }
