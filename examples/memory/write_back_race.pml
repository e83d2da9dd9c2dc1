/* MESI with a write-back buffer that nobody snoops: an evicted line waits there, and until it arrives the bus
   finds no owner and takes the old value from memory. Even the processor that wrote reads the old value. */
#define MESI_BUFFER
#include "mesi.pml"
