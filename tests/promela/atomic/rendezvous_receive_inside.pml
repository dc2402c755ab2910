// expect: states=6 transitions=5 errors=none
// spin-default: states=6
/* Waiting for a rendezvous inside an atomic sequence. */
chan c = [0] of { byte };
byte x;
active proctype R() { byte v; atomic { x = 1; c?v; x = v; x++ } }
active proctype S() { c!4; x = 0 }
