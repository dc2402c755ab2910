// quotient: --raw --all --safety => holds, states 4, transitions 3
// quotient: --all --safety => holds, at most 4 states
/* Buffered channel operations inside a deterministic step. */
chan c = [2] of { byte };
byte x;
active proctype P() { d_step { c!1; c!2; c?x }; assert(x == 1 && len(c) == 1) }
