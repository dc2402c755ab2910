// expect: states=7 transitions=6 errors=none
// spin-default: states=7
/* An inline without parameters. */
byte x;
inline bump() { x++; x++ }
active proctype P() { bump(); bump(); assert(x == 4) }
