// quotient: --raw --all --safety => holds, states 29, transitions 37
// quotient: --all --safety => holds, at most 26 states
/* A structure in a structure as a parameter, handed on to another process, whole and field by field. */
typedef Inner { byte q; bit f }
typedef Outer { Inner i; byte a; Inner j }
byte sum;
proctype Q(byte n; Outer o) { sum = sum + o.i.q + n; assert(o.i.f == o.j.f) }
proctype P(Outer o) { o.i.q++; run Q(1, o); run Q(2, o.j.q, 1, o.a, o.i.q, o.i.f) }
init {
	Outer o;
	o.i.q = 3; o.j.q = 4; o.i.f = 1; o.j.f = 1;
	run P(o)
}
