/* The sequence number is missing. */
mtype = { data };
chan link = [1] of { mtype, byte, bit };

active proctype sender() { link!data, 5 }
active proctype receiver() { link?data, _, _ }
