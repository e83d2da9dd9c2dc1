/* MESI with late invalidations: a cache acknowledges an invalidation at once and applies it when it has time,
   as a queue of invalidations does. Without a fence for readers that is not what the programmer of the other
   processor expects; and this fence applies only what has been queued. */
#define MESI_LATE
#include "mesi.pml"
