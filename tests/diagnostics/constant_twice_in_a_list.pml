mtype = { red, green, red };
init { skip }
