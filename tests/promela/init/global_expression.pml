// quotient: --raw --all --safety => holds, states 3, transitions 2
// quotient: --all --safety => holds, at most 3 states
/* Globals are initialised in order of declaration by constant expressions. */
byte a = 2 * 3 + 1;
int b = -(4 - 9);
bool c = (3 > 2);
active proctype P() { assert(a == 7 && b == 5 && c) }
