// quotient: --raw --all --safety => holds, states 5, transitions 4
// quotient: --all --safety => holds, at most 5 states
/* Each named mtype set has numbers of its own. */
mtype:fruit = { apple, pear };
mtype:size = { small, large };
mtype:fruit f = apple;
mtype:size s = large;
active proctype P() { f = pear; s = small; assert(f == pear && s == small) }
