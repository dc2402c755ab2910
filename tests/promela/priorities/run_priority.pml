// quotient: --raw --all --safety => holds, states 9, transitions 8
// quotient: --all --safety => holds, at most 9 states
/* run with a priority. */
byte x;
proctype P(byte v) { x = v }
init { atomic { run P(1) priority 2; run P(2) priority 8 }; (x != 0) }
