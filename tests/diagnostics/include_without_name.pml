#include library
init { skip }
