// quotient: --raw --all --safety => holds, states 13, transitions 18
// quotient: --all --safety => holds, at most 13 states
/* An atomic sequence of one statement is that statement. */
byte x;
active [2] proctype P() { atomic { x++ }; atomic { x++ } }
