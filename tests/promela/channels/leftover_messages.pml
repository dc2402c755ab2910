// expect: states=4 transitions=3 errors=none
// spin-default: states=4
/* Messages left in a buffer do not make an end state invalid. */
chan c = [2] of { byte };
active proctype P() { c!1; c!2 }
