// expect: states=7 transitions=6 errors=assertion
// spin-default: states=7
/* assert as a guard of a choice. */
byte x;
active proctype P() { if :: assert(x == 0) -> x = 1 :: assert(x == 1) -> x = 2 fi }
