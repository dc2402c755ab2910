// expect: states=120 transitions=249 errors=none
// spin-default: states=120
/* Processes started in a loop. */
byte n;
proctype C(byte k) { n = n + k }
init { byte i = 1; do :: i <= 3 -> run C(i); i++ :: else -> break od }
