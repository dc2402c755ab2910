// expect: states=7 transitions=7 errors=none
// spin-default: states=7
/* A process started inside an atomic sequence that then waits for it. */
byte x;
proctype C() { x = 1 }
init { atomic { run C(); (x == 1); x = 2 } }
