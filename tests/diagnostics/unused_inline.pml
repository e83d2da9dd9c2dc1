/* Declared, and never used. */
bit lock;

inline acquire() { atomic { lock == 0 -> lock = 1 } }
inline release() { lock = 0 }

active [2] proctype p() { acquire(); lock = 0 }
