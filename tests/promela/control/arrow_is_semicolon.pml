// expect: states=6 transitions=5 errors=none
// spin-default: states=6
/* An arrow separates like a semicolon. */
byte x;
active proctype P() { x = 1 -> x = 2 -> assert(x == 2) -> x = 3 }
