mtype = { red, green };
mtype = { blue, red };
init { skip }
