// expect: states=7 transitions=8 errors=none
// spin-default: states=7
/* A loop inside an atomic sequence. */
byte i;
active proctype P() { atomic { do :: i < 5 -> i++ :: i == 5 -> break od } }
active proctype Q() { assert(i == 0 || i == 5) }
