// quotient: --raw --all --safety => holds, states 15, transitions 24
// quotient: --all --safety => holds, at most 15 states
/* The order in which three processes can end. */
active [3] proctype P() { skip }
