#defin N 3
#ifdef N
#elseif
#endif
#frobnicate
init { skip }
