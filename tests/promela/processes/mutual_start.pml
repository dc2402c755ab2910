// quotient: --raw --all --safety => holds, states 18, transitions 17
// quotient: --all --safety => holds, at most 18 states
/* Two proctypes that start each other a few times. */
byte n;
proctype A() { n++; if :: n < 4 -> run B() :: else fi }
proctype B() { n++; if :: n < 4 -> run A() :: else fi }
init { run A() }
