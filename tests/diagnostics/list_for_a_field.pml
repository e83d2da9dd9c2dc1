typedef Row { byte cell = { 1, 2 } };
Row r;
init { skip }
