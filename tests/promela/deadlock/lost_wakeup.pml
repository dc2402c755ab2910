// quotient: --raw --all --safety => holds, states 16, transitions 22
// quotient: --all --safety => holds, at most 16 states
/* A flag tested before waiting for a signal that has already been sent. */
bit ready; chan sig = [0] of { bit };
active proctype Waiter() { if :: ready -> skip :: else -> sig?1 fi }
active proctype Setter() { ready = 1; if :: sig!1 :: else -> skip fi }
