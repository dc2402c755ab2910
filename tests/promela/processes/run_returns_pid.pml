// expect: states=26 transitions=38 errors=assertion
// spin-default: states=26
/* run yields the new process's number. */
byte p, q;
proctype C() { skip }
init { p = run C(); q = run C(); assert(p == 1 && q != p) }
