// expect: states=3 transitions=2 errors=deadlock
// spin-default: states=3
/* ?? blocks when nothing matches. */
chan c = [2] of { byte };
active proctype P() { c!1; c!2; c??3 }
