// expect-own: errors=channel
// why: SPIN ends the search at the first use of an uninitialised channel
/* The length of a channel that does not exist. */
active proctype P() { chan c; assert(len(c) == 0) }
