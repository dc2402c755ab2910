// expect: states=11 transitions=10 errors=none
// spin-default: states=8
/* A parameter can be assigned. */
proctype C(byte n) { do :: n > 0 -> n-- :: n == 0 -> break od }
init { run C(3) }
