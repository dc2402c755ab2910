// quotient: --raw --all --safety => violated deadlock, states 3, transitions 2
// quotient: --all --safety => violated deadlock, at most 3 states
/* The wrong message at the head blocks the receiver. */
mtype = { ping, pong };
chan c = [2] of { mtype };
active proctype S() { c!ping; c!pong }
active proctype R() { c?pong; c?ping }
