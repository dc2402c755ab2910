// expect: states=13 transitions=14 errors=deadlock
// spin-default: states=13
/* The classic lost update. */
byte n;
active [2] proctype P() { byte t; t = n; n = t + 1 }
active proctype M() { (_nr_pr == 1); assert(n == 2) }
