// expect: states=5 transitions=4 errors=none
// spin-default: states=5
/* An ltl property plays no part in the count. */
byte x;
ltl p { [] (x < 2) }
active proctype P() { x = 1; x = 2; x = 3 }
