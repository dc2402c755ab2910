// quotient: --raw --all --safety => violated deadlock, states 25, transitions 32
// quotient: --all --safety => violated deadlock, at most 25 states
/* Two locks taken in opposite order. */
bit l[2];
active proctype P() { atomic { !l[0] -> l[0] = 1 }; atomic { !l[1] -> l[1] = 1 }; l[1] = 0; l[0] = 0 }
active proctype Q() { atomic { !l[1] -> l[1] = 1 }; atomic { !l[0] -> l[0] = 1 }; l[0] = 0; l[1] = 0 }
