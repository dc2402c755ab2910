// quotient: --raw --all --safety => holds, states 4, transitions 3
// quotient: --all --safety => holds, at most 4 states
/* Two deterministic steps as options. */
byte x;
active proctype P() { if :: d_step { x == 0 -> x = 1; x++ } :: d_step { x == 1 -> x = 9 } fi; assert(x == 2) }
