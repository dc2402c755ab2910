// quotient: --raw --all --safety => holds, states 6, transitions 5
// quotient: --all --safety => holds, at most 6 states
/* true and 1 are executable conditions, like skip. */
active proctype P() { true; 1; (2 > 1); skip }
