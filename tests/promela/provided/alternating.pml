// quotient: --raw --all --safety => holds, states 7, transitions 6
// quotient: --all --safety => holds, at most 7 states
/* Two processes share a token variable. */
bit t; byte x;
active proctype A() provided (t == 0) { x = 1; x = 2; t = 1 }
active proctype B() provided (t == 1) { assert(x == 2); x = 3 }
