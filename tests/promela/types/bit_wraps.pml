// expect: states=7 transitions=6 errors=none
// spin-default: states=7
/* A bit keeps the lowest bit of what is assigned. */
bit b;
active proctype P() { b = 1; b = 2; b = 3; b++; b-- }
