char c;
boolean b;
string s;
init { skip }
