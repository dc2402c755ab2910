// quotient: --raw --all --safety => violated channel
// why: SPIN takes the poll to be false and goes on; here the error ends the path
/* The same beside an else. */
chan c = [0] of { byte };
byte x;
active proctype S() { end: c!0 }
active proctype R() { if :: c??[0] -> x = 1 :: else -> x = 2 fi }
