// expect: states=4 transitions=4 errors=none
// spin-default: states=4
/* Every process at an end label. */
byte x;
active [2] proctype P() { x++; end: (x == 9) }
