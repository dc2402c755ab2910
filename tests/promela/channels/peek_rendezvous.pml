// quotient: --raw --all --safety => violated channel
// why: SPIN also reports that the process waits there for ever
/* A peek at a rendezvous channel. */
chan c = [0] of { byte };
active proctype S() { c!0 }
active proctype R() { byte x; c?<x> }
