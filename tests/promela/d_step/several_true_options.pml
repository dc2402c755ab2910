// quotient: --raw --all --safety => holds, states 4, transitions 3
// quotient: --all --safety => holds, at most 4 states
/* With several executable options a deterministic step takes the first. */
byte y;
active proctype P() { d_step { if :: y = 1 :: y = 2 :: y = 3 fi; y = y + 10 }; assert(y == 11) }
