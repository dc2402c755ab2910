// quotient: --raw --all --safety => holds, states 4, transitions 3
// quotient: --all --safety => holds, at most 4 states
/* Several variables, some with initialisers, in one declaration. */
byte a = 1, b, c = 3, d[2] = 4;
active proctype P() { b = a + c + d[1]; assert(b == 8) }
