// quotient: --raw --all --safety => violated channel
// why: SPIN ends the search at this error (too many fields in recv)
/* A receive with more fields than the message. */
chan c = [1] of { byte, byte };
byte x, y, z;
active proctype S() { c!1,2 }
active proctype R() { c?x,y,z }
