// quotient: --raw --all --safety => holds, states 11, transitions 10
// quotient: --all --safety => holds, at most 11 states
/* break as the only statement of an option, always executable. */
byte x;
active proctype P() { do :: break :: x < 2 -> x++ od }
