// quotient: --raw --all --safety => holds, states 10, transitions 9
// quotient: --all --safety => holds, at most 10 states
/* All executable options of an if are explored. */
byte x;
active proctype P() { if :: x = 1 :: x = 2 :: x = 3 fi; assert(x > 0) }
