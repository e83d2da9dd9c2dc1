byte x;
init() { x = 1 }
active 2 proctype P() { skip }
active proctype Q() { ++x }
active proctype R() { x = pid }
active proctype S() { do { x++ } while (x < 3) }
