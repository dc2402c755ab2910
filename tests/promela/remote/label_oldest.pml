// quotient: --raw --all --safety => holds, states 30, transitions 55
// quotient: --all --safety => holds, at most 30 states
/* A label of a proctype with several processes, without a number: the oldest of them is meant. */
byte x;
active [2] proctype P() { byte k = _pid; L: x = x + k; k = 0 }
active proctype Q() { !P@L; assert(x != 3) }
