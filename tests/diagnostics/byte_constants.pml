byte = { red, green };
hidden mtype = { blue };
init { skip }
