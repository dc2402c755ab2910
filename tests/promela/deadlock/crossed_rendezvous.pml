// expect: states=1 transitions=0 errors=deadlock
// spin-default: states=1
/* Two unbuffered sends face each other. */
chan a = [0] of { bit };
chan b = [0] of { bit };
active proctype P() { a!1; b?1 }
active proctype Q() { b!1; a?1 }
