// quotient: --raw --all --safety => violated deadlock, states 1, transitions 0
// quotient: --all --safety => violated deadlock, at most 1 states
/* A receive on an empty channel waits; here forever. */
chan c = [1] of { byte };
active proctype R() { byte x; c?x }
