// expect: states=6 transitions=5 errors=assertion
// spin-default: states=6
/* An assertion that always fails; the search goes on behind it. */
byte x;
active proctype P() { assert(false); x = 1; assert(x == 2); x = 3 }
