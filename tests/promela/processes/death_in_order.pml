// quotient: --raw --all --safety => holds, states 30, transitions 54
// quotient: --all --safety => holds, at most 30 states
/* Processes die in reverse order of creation: the first must wait for the last. */
byte x;
active proctype First() { x++ }
active proctype Second() { x++; x++; (x == 3) }
active proctype Third() { x--; x++ }
