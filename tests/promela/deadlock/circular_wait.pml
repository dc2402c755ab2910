// expect: states=25 transitions=32 errors=deadlock
// spin-default: states=25
/* Two locks taken in opposite order. */
bit l[2];
active proctype P() { atomic { !l[0] -> l[0] = 1 }; atomic { !l[1] -> l[1] = 1 }; l[1] = 0; l[0] = 0 }
active proctype Q() { atomic { !l[1] -> l[1] = 1 }; atomic { !l[0] -> l[0] = 1 }; l[0] = 0; l[1] = 0 }
