// expect: states=11 transitions=11 errors=none
// spin-default: states=11
/* Two processes with timeouts: either may go. */
byte n;
active [2] proctype P() { timeout -> n++ }
