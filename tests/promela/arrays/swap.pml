// quotient: --raw --all --safety => holds, states 16, transitions 15
// quotient: --all --safety => holds, at most 16 states
/* Swapping cells with a temporary, from every pair chosen. */
byte a[3] = { 1, 2, 3 };
active proctype P() {
	byte t;
	if
	:: t = a[0]; a[0] = a[1]; a[1] = t
	:: t = a[1]; a[1] = a[2]; a[2] = t
	:: t = a[0]; a[0] = a[2]; a[2] = t
	fi;
	assert(a[0] + a[1] + a[2] == 6)
}
