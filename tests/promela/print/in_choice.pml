// expect: states=7 transitions=6 errors=none
// spin-default: states=5
/* printf as a guard is always executable. */
byte x;
active proctype P() { if :: printf("a\n"); x = 1 :: printf("b\n"); x = 2 fi }
