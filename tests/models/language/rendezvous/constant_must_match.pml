// A constant in a receive selects the partner.
//@ check: safety
//@ expect: verdict=holds states=4
mtype = { yes, no };
chan q = [0] of { mtype };
active proctype S() {
  if
  :: q!yes
  :: q!no
  fi
}
active proctype R() { q?yes }
