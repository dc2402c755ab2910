// quotient: --raw --all --safety => holds, states 3, transitions 2
// quotient: --all --safety => holds, at most 3 states
/* Code that is never reached does no harm. */
active proctype P() { goto l; assert(false); l: skip }
