// quotient: --raw --all --safety => holds, states 12, transitions 14
// quotient: --all --safety => holds, at most 12 states
/* A receive with a constant waits for that message at the head. */
mtype = { ping, pong };
chan c = [2] of { mtype };
active proctype S() { if :: c!ping; c!pong :: c!pong; c!ping fi }
active proctype R() { if :: c?ping -> c?pong :: c?pong -> c?ping fi }
