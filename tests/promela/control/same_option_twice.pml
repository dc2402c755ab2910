// expect: states=3 transitions=3 errors=none
// spin-default: states=3
/* Two equal options are two transitions to one state. */
byte x;
active proctype P() { if :: x = 1 :: x = 1 fi }
