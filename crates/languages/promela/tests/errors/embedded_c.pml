c_decl { typedef struct S { int x; } S; }
c_state "S s" "Global"
c_track "&s" "sizeof(S)"
init {
	c_code { now.s.x = '\x41' + "}"[0]; };
	c_expr { now.s.x == 1 } -> skip;
	c_code [now.s.x > 0] { now.s.x--; }
}
