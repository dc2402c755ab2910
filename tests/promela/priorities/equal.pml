// expect: states=13 transitions=18 errors=none
// spin-default: states=13
/* Equal priorities interleave as usual. */
byte x;
active [2] proctype P() priority 3 { x++; x++ }
