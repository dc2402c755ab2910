// quotient: --raw --all --safety => violated deadlock, states 11, transitions 10
// quotient: --all --safety => violated deadlock, at most 11 states
/* An escape that is a jump, out of an atomic sequence: the jump is a step. */
byte x, y;
active proctype P2() {
	L1: x = 1;
	y++; y < 3;
	atomic { x = 2; x = 3 } unless { goto L1; };
}
