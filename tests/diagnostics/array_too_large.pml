typedef Row { int cell[100000] };
typedef Board { Row row[100000] };
Board b;
init { skip }
