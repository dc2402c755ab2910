// expect: states=30 transitions=54 errors=none
// spin-default: states=30
/* Processes die in reverse order of creation: the first must wait for the last. */
byte x;
active proctype First() { x++ }
active proctype Second() { x++; x++; (x == 3) }
active proctype Third() { x--; x++ }
