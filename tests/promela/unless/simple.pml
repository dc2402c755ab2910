// expect: states=22 transitions=29 errors=none
// spin-default: states=15
/* The escape is tested before every statement of the main sequence. */
bit stop; byte x;
active proctype P() { { x = 1; x = 2; x = 3 } unless { stop; x = 9 } }
active proctype Q() { stop = 1 }
