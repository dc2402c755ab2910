// quotient: --raw --all --safety => holds, states 4, transitions 3
// quotient: --all --safety => holds, at most 4 states
/* A choice inside a deterministic step. */
byte x = 3, y;
active proctype P() { d_step { if :: x > 2 -> y = 1 :: else -> y = 2 fi; x = 0 }; assert(y == 1) }
