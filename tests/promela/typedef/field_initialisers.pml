// quotient: --raw --all --safety => holds, states 4, transitions 3
// quotient: --all --safety => holds, at most 4 states
/* Fields may carry initialisers. */
typedef rec { byte a = 4; short b = -2; bit c = 1 };
rec r, s[2];
active proctype P() { assert(r.a == 4 && r.b == -2 && r.c && s[1].a == 4); s[0].a-- }
