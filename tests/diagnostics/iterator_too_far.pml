// options: pv
proctype p(byte i) { skip }
init { run [i < 300] p(i) }
