typedef Point { int x; int y };
typedef Point { int z };
init { skip }
