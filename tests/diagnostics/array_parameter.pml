proctype p(byte a[2]) { skip }
init { skip }
