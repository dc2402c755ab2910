// expect: states=2 transitions=2 errors=none
// spin-default: states=2
/* A loop that never ends is a finite cycle of states. */
bit b;
active proctype P() { do :: b = 1 - b od }
