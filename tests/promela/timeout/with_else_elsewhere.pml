// quotient: --raw --all --safety => holds, states 8, transitions 7
// quotient: --all --safety => holds, at most 8 states
/* An else option elsewhere is a move, so no timeout. */
byte x; bit done;
active proctype P() { if :: x == 9 -> skip :: else -> x = 1 fi; done = 1 }
active proctype Q() { timeout -> assert(done) }
