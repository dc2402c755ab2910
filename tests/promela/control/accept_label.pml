// expect: states=2 transitions=2 errors=none
// spin-default: states=2
/* An accept label has no influence on safety. */
bit b;
active proctype P() { do :: accept_x: b = 1; b = 0 od }
