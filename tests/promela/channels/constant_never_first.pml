// expect: states=3 transitions=2 errors=deadlock
// spin-default: states=3
/* The wrong message at the head blocks the receiver. */
mtype = { ping, pong };
chan c = [2] of { mtype };
active proctype S() { c!ping; c!pong }
active proctype R() { c?pong; c?ping }
