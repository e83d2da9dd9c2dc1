/* MESI with a lost invalidation: a cache that upgrades its line from Shared forgets to invalidate the others,
   which go on reading the old value. Nothing is shared at a cold start, so SB, MP, IRIW, WRC and CoRR all look
   right; the streams of rowo2 find it within a thousand states. */
#define MESI_LOST
#include "mesi.pml"
