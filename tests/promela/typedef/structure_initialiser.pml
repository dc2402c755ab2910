// quotient: --raw --all --safety => holds, states 16, transitions 23
// quotient: --all --safety => holds, at most 16 states
/* A single value given to a structure is ignored; the fields have the values of the typedef. */
typedef T { byte a = 2; byte b }
T g = 7;
T h[2] = 3;
byte o;
active proctype P() { T l = 5; o = g.a + g.b; o = h[1].a; o = l.a; assert(o == 2 && l.b == 0) }
active proctype Q() { assert(g.a == 2 && h[0].b == 0) }
