// quotient: --raw --all --safety => violated channel
// why: SPIN reports the channel and then goes on with an arbitrary length
/* The length of a channel that does not exist. */
active proctype P() { chan c; assert(len(c) == 0) }
