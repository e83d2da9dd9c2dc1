/* The property names a variable that the model does not have. */
byte critical;

active [2] proctype p() { critical++; critical-- }

ltl exclusion { [] (crtical <= 1) }
