// expect: states=13 transitions=18 errors=none
// spin-default: states=13
/* Locals of different proctypes are unrelated. */
byte g;
active proctype P() { byte n = 1; n++; g = g + n }
active proctype Q() { byte n = 4; n--; g = g + n }
