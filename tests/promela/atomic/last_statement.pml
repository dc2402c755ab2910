// expect: states=10 transitions=13 errors=none
// spin-default: states=10
/* After the last statement others may run at once. */
byte x;
active proctype P() { atomic { x = 1; x = 2 }; x = 3 }
active proctype Q() { assert(x != 1) }
