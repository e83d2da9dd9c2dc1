/* The split-transaction bus with a bug: reads have a lane of their own to the bus, so that they do not wait
   behind writes. A read overtakes the writes that were issued before it, even to the same address. */
#define HASTY
#include "split_bus.pml"
