// quotient: --raw --all --safety => holds, states 31, transitions 50
// quotient: --all --safety => holds, at most 7 states
/* The fields of a parameter of an active process are zero, whatever the typedef says. */
typedef T { byte a = 7; byte b }
active [2] proctype P(T t; byte k) { assert(t.a == 0 && k == 0); t.b = _pid; t.a = t.b + 1; assert(t.a > k) }
