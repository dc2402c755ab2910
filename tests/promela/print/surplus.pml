// quotient: --raw --all --safety => holds, states 19, transitions 28
// quotient: --all --safety => holds, at most 19 states
/* Values without a format and formats without a value change nothing. */
byte x = 3;
active proctype P() { printf("a %d\n", x, x + 1); x++; printf("b\n", x); printf("c %d %d\n", x); x-- }
active proctype Q() { assert(x == 3 || x == 4) }
