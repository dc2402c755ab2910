// quotient: --raw --all --safety => violated deadlock, states 1, transitions 0
// quotient: --all --safety => violated deadlock, at most 1 states
/* Each waits for the other's message. */
chan a = [1] of { bit };
chan b = [1] of { bit };
active proctype P() { a?1; b!1 }
active proctype Q() { b?1; a!1 }
