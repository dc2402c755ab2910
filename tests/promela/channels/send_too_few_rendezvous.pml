// quotient: --raw --all --safety => violated channel, states 1, transitions 0
// quotient: --all --safety => violated channel, at most 1 states
/* The same by rendezvous, where nobody receives. */
chan c = [0] of { byte, byte };
active proctype W() { end: c!3 }
