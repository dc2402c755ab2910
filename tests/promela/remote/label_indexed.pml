// quotient: --raw --all --safety => holds, states 46, transitions 94
// quotient: --all --safety => holds, at most 46 states
/* P[pid]@label of one of two instances. */
byte x;
active [2] proctype P() { x++; crit: x-- }
active proctype M() { if :: P[1]@crit -> skip :: else -> skip fi }
