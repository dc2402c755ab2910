// quotient: --raw --all --safety => violated channel
// why: SPIN ends the search at the first use of an uninitialised channel
/* Receiving from a channel variable that was never assigned. */
active proctype P() { chan c; byte x; c?x }
