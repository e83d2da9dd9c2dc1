active proctype p() { assert(np_ == 0) }
