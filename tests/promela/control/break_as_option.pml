// expect: states=11 transitions=10 errors=none
// spin-default: states=11
/* break as the only statement of an option, always executable. */
byte x;
active proctype P() { do :: break :: x < 2 -> x++ od }
