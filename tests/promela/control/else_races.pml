// quotient: --raw --all --safety => holds, states 15, transitions 18
// quotient: --all --safety => holds, at most 12 states
/* An else option can be disabled again by another process. */
bit f; byte r;
active proctype P() { if :: f -> r = 1 :: else -> r = 2 fi }
active proctype Q() { f = 1 }
