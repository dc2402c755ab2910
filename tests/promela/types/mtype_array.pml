// quotient: --raw --all --safety => holds, states 13, transitions 12
// quotient: --all --safety => holds, at most 13 states
/* An array of symbolic names. */
mtype = { on, off };
mtype lamp[3] = off;
active proctype P() { byte i; do :: i < 3 -> lamp[i] = on; i++ :: i == 3 -> break od; assert(lamp[0] == on && lamp[2] == on) }
