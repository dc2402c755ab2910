// expect: states=17 transitions=16 errors=none
// spin-default: states=17
/* for over a range, both ends included. */
byte s;
active proctype P() { byte i; for (i : 1 .. 4) { s = s + i }; assert(s == 10) }
