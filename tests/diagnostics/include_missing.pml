#include "library.pml"

init { skip }
