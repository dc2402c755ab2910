// quotient: --raw --all --safety => holds, states 7, transitions 7
// quotient: --all --safety => holds, at most 7 states
/* A process started inside an atomic sequence that then waits for it. */
byte x;
proctype C() { x = 1 }
init { atomic { run C(); (x == 1); x = 2 } }
