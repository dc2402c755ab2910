// expect: states=4 transitions=3 errors=none
// spin-default: states=4
/* A loop inside a deterministic step. */
byte i, s;
active proctype P() { d_step { i = 1; do :: i <= 4 -> s = s + i; i++ :: else -> break od } ; assert(s == 10) }
