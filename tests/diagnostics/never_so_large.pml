/* The property can never fail. */
byte queue;

active proctype producer() { do :: queue++ od }

ltl bounded { [] (queue <= 255) }
