// quotient: --raw --all --safety => holds, states 5, transitions 4
// quotient: --all --safety => holds, at most 5 states
/* printf has no effect on the state. */
byte x;
active proctype P() { printf("start\n"); x = 3; printf("x = %d, %u, %x, %c, %o\n", x, x, x, 65, x) }
