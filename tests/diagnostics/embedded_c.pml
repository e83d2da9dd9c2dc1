c_decl { typedef struct S S; };
init {
	c_code { now.x = 1; }
}
