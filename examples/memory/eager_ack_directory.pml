/* The directory protocol with a bug: the home grants a write at once and collects the acknowledgements of the
   invalidations afterwards. For a while the writer has the new value and others still read the old one. */
#define EAGER
#include "invalidate_directory.pml"
