// quotient: --raw --all --safety => violated deadlock, states 1, transitions 0
// quotient: --all --safety => violated deadlock, at most 1 states
/* Two unbuffered sends face each other. */
chan a = [0] of { bit };
chan b = [0] of { bit };
active proctype P() { a!1; b?1 }
active proctype Q() { b!1; a?1 }
