// quotient: --raw --all --safety => holds, states 13, transitions 18
// quotient: --all --safety => holds, at most 13 states
/* Two atomic sequences in a row can be separated. */
byte x;
active [2] proctype P() { atomic { x++; x++ }; atomic { x--; x-- } }
