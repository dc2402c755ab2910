// quotient: --raw --all --safety => holds, states 7, transitions 6
// quotient: --all --safety => holds, at most 5 states
/* printf as a guard is always executable. */
byte x;
active proctype P() { if :: printf("a\n"); x = 1 :: printf("b\n"); x = 2 fi }
