// expect: states=1 transitions=0 errors=deadlock
// spin-default: states=1
/* A receive on an empty channel waits; here forever. */
chan c = [1] of { byte };
active proctype R() { byte x; c?x }
