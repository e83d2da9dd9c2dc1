bool p;
init { assert(<> p) }
