// quotient: --raw --all --safety => violated deadlock, states 115, transitions 215
// quotient: --all --safety => violated deadlock, at most 115 states
/* Three philosophers, left fork first. */
bit f[3];
active [3] proctype P() { atomic { !f[_pid] -> f[_pid] = 1 }; atomic { !f[(_pid + 1) % 3] -> f[(_pid + 1) % 3] = 1 }; f[(_pid + 1) % 3] = 0; f[_pid] = 0 }
