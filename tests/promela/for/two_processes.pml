// quotient: --raw --all --safety => holds, states 91, transitions 162
// quotient: --all --safety => holds, at most 91 states
/* Two processes with loops of their own. */
byte s;
active [2] proctype P() { byte i; for (i : 1 .. 2) { s++ } }
