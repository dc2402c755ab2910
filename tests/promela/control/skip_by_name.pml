// quotient: --raw --all --safety => holds, states 6, transitions 6
// quotient: --all --safety => holds, at most 6 states
/* The name of an mtype is a constant as written, like a number: the one with the value 1 is a `skip`, of several of which in a row one is kept. */
mtype = { two, one };
byte x;
active proctype P() {
	do
	:: x = 1 - x;
		skip;
		one;
		skip
	:: x == 2 ->
		skip;
		two;
		skip
	od
}
