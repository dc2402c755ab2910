// quotient: --raw --all --safety => holds, states 7, transitions 6
// quotient: --all --safety => holds, at most 7 states
/* Blocks four levels deep. */
byte out;
active proctype P() { byte a = 1; { byte b = a + 1; { byte c = b + 1; { byte d = c + 1; out = a + b + c + d } } } ; assert(out == 10) }
