// expect: states=3 transitions=2 errors=none
// spin-default: states=3
/* Globals are initialised in order of declaration by constant expressions. */
byte a = 2 * 3 + 1;
int b = -(4 - 9);
bool c = (3 > 2);
active proctype P() { assert(a == 7 && b == 5 && c) }
