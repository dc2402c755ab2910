#define GOOD 1
#ifdef GOOD
#	define MAX(a, b) ((a) > (b) -> (a) : (b))
#elif defined(OTHER) && (OTHER + 1 > 2)
#	error "not here"
#else
#	error "nor here"
#endif
#define NAME(n) x ## n
#define SHOW(e) printf(#e)
byte x1, x2;
inline set(variable, value) {
	variable = value
again:	if
	:: variable > 3 -> goto again
	:: else -> skip
	fi
}
inline both(a, b) { set(a, b + 1); set(b, MAX(a, b)) }
inline next(v) { byte w; w = v; return w + 1 }
active proctype P() {
	both(x1, x2);
	x1 = next(x2)
	NAME(1) = 2; SHOW(x1 == 2);
	set(x1, (x2 -> 1 : 0))
}
