// quotient: --raw --all --safety => holds, states 21, transitions 32
// quotient: --all --safety => holds, at most 7 states
/* Arrays local to a process. */
active [2] proctype P() { short v[2]; v[0] = 300 + _pid; v[1] = -v[0]; assert(v[0] + v[1] == 0) }
