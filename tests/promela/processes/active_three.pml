// quotient: --raw --all --safety => holds, states 15, transitions 24
// quotient: --all --safety => holds, at most 15 states
/* Three instances with pids 0, 1, 2. */
byte mask;
active [3] proctype P() { mask = mask | (1 << _pid) }
