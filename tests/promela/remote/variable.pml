// quotient: --raw --all --safety => holds, states 9, transitions 9
// quotient: --all --safety => holds, at most 9 states
/* P:x reads a local variable of another process. */
byte seen;
active proctype P() { byte v; v = 1; v = 2; (seen != 0) }
active proctype Q() { (P:v == 2); seen = P:v }
