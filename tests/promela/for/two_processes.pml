// expect: states=91 transitions=162 errors=none
// spin-default: states=91
/* Two processes with loops of their own. */
byte s;
active [2] proctype P() { byte i; for (i : 1 .. 2) { s++ } }
