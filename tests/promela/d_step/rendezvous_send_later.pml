// quotient: --raw --all --safety => violated d_step
// why: SPIN ends the search at this error (rv-attempt in d_step)
/* The same after another statement. */
chan c = [0] of { byte };
byte x;
active proctype S() { d_step { x = 2; c!1 } }
active proctype R() { end: c?x }
