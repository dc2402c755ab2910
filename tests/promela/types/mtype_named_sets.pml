// expect: states=5 transitions=4 errors=none
// spin-default: states=5
/* Each named mtype set has numbers of its own. */
mtype:fruit = { apple, pear };
mtype:size = { small, large };
mtype:fruit f = apple;
mtype:size s = large;
active proctype P() { f = pear; s = small; assert(f == pear && s == small) }
