// expect: states=7 transitions=6 errors=none
// spin-default: states=7
/* A choice as the first statement of an option. */
byte x;
active proctype P() { if :: if :: x == 0 -> x = 1 :: x == 1 -> x = 5 fi :: x == 0 -> x = 2 fi }
