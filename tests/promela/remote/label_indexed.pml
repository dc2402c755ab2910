// expect: states=46 transitions=94 errors=none
// spin-default: states=46
/* P[pid]@label of one of two instances. */
byte x;
active [2] proctype P() { x++; crit: x-- }
active proctype M() { if :: P[1]@crit -> skip :: else -> skip fi }
