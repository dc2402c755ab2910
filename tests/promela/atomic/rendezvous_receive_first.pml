// expect: states=6 transitions=6 errors=none
// spin-default: states=6
/* A rendezvous receive at the start of an atomic sequence. */
chan c = [0] of { byte };
byte x;
active proctype S() { c!4; x++ }
active proctype R() { byte v; atomic { c?v; x = v; x = x * 2 } }
