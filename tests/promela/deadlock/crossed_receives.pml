// expect: states=1 transitions=0 errors=deadlock
// spin-default: states=1
/* Each waits for the other's message. */
chan a = [1] of { bit };
chan b = [1] of { bit };
active proctype P() { a?1; b!1 }
active proctype Q() { b?1; a!1 }
