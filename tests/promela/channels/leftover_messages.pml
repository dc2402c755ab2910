// quotient: --raw --all --safety => holds, states 4, transitions 3
// quotient: --all --safety => holds, at most 4 states
/* Messages left in a buffer do not make an end state invalid. */
chan c = [2] of { byte };
active proctype P() { c!1; c!2 }
