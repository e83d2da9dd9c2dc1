/* The channel has another name in the proctype, and nobody receives there either. */
chan alarm = [0] of { bit };

proctype sensor(chan out) { out!1 }

init { run sensor(alarm) }
