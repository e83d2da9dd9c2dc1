c_state "int x" "global"
c_track "&x" "4" "matched"
c_state "int" "Global"
c_state "int y" "Local nobody"
c_code [1] { int f(void) { return 1; } }
init {
	c_decl { int z; }
	c_expr { }
}
