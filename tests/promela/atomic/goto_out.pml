// expect: states=13 transitions=21 errors=none
// spin-default: states=13
/* Jumping out of the sequence ends it. */
byte x;
active proctype P() { atomic { x = 1; if :: goto out :: x = 2 fi; x = 3 }; out: x = 4 }
active proctype Q() { assert(x != 2) }
