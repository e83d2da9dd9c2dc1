#define DEBUG
#ifdef DEBUG
byte steps;

init { skip }
