// expect: states=7 transitions=7 errors=none
// spin-default: states=7
/* A process stopped by its clause does not prevent a timeout elsewhere. */
bit go;
active proctype P() provided (go) { skip }
active proctype Q() { timeout -> go = 1 }
