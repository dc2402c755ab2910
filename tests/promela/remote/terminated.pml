// quotient: --raw --all --safety => holds, states 10, transitions 12
// quotient: --all --safety => holds, at most 10 states
/* A label reference to a process that has run past it. */
active proctype P() { l: skip; skip }
active proctype Q() { (!P@l); skip }
