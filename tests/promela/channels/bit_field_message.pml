// quotient: --raw --all --safety => holds, states 8, transitions 7
// quotient: --all --safety => holds, at most 8 states
/* bit fields of a message keep one bit. */
chan c = [1] of { bit, bool };
active proctype P() { bit a; bool b; c!1,0; c?a,b; assert(a && !b); c!0,1; c?a,b; assert(!a && b) }
