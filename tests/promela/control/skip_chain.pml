// quotient: --raw --all --safety => holds, states 21, transitions 32
// quotient: --all --safety => holds, at most 21 states
/* Each skip is a step. */
active [2] proctype P() { skip; skip; skip }
