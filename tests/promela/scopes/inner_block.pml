// expect: states=5 transitions=4 errors=none
// spin-default: states=5
/* A variable declared inside braces. */
byte x;
active proctype P() { byte y = 1; { byte z = y + 1; x = z }; assert(x == 2 && y == 1) }
