// expect: states=2 transitions=2 errors=none
// spin-default: states=2
/* A progress label has no influence on safety. */
bit b;
active proctype P() { do :: b = 1; progress: b = 0 od }
