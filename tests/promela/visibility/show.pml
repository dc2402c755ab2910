// quotient: --raw --all --safety => holds, states 5, transitions 4
// quotient: --all --safety => holds, at most 5 states
/* show has no effect on the search. */
show byte x;
active proctype P() { show byte y; y = 1; x = y + 1; assert(x == 2) }
