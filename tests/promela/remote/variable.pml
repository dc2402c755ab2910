// expect: states=9 transitions=9 errors=none
// spin-default: states=9
/* P:x reads a local variable of another process. */
byte seen;
active proctype P() { byte v; v = 1; v = 2; (seen != 0) }
active proctype Q() { (P:v == 2); seen = P:v }
