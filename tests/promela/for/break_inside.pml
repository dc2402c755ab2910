// expect: states=15 transitions=14 errors=none
// spin-default: states=15
/* break leaves a for loop. */
byte i;
active proctype P() { for (i : 0 .. 9) { if :: i == 3 -> break :: else fi }; assert(i == 3) }
