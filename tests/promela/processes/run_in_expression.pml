// expect: states=19 transitions=30 errors=none
// spin-default: states=19
/* run as a condition. */
byte n;
proctype C() { n++ }
init { (run C()); if :: run C() -> n = n + 10 fi }
