// expect: states=13 transitions=12 errors=none
// spin-default: states=13
/* An array of symbolic names. */
mtype = { on, off };
mtype lamp[3] = off;
active proctype P() { byte i; do :: i < 3 -> lamp[i] = on; i++ :: i == 3 -> break od; assert(lamp[0] == on && lamp[2] == on) }
