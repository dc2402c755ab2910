// quotient: --raw --all --safety => holds, states 21, transitions 32
// quotient: --all --safety => holds, at most 21 states
/* Braces group statements without making them atomic. */
byte x;
active [2] proctype P() { { x++; x++ }; { skip } }
