// expect: states=8 transitions=7 errors=none
// spin-default: states=8
/* Complement of an int and of a byte value. */
int i; byte b = 5;
active proctype P() { i = ~0; assert(i == -1); i = ~b; assert(i == -6); b = ~b; assert(b == 250) }
