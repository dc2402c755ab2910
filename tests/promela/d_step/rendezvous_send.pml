// quotient: --raw --all --safety => violated d_step
// why: SPIN ends the search at this error (rv-attempt in d_step)
/* A rendezvous send inside a deterministic step. */
chan c = [0] of { byte };
byte x;
active proctype S() { d_step { c!1; x = 2 } }
active proctype R() { c?x }
