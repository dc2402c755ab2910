// expect: states=26 transitions=38 errors=assertion
// spin-default: states=26
/* run yields the number of the new process, which may be that of one that has died meanwhile. */
byte p, q;
proctype C() { skip }
init { p = run C(); q = run C(); assert(p == 1 && q != p) }
