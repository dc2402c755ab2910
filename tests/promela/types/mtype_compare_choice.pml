// quotient: --raw --all --safety => holds, states 8, transitions 8
// quotient: --all --safety => holds, at most 8 states
/* Guards over an mtype variable. */
mtype = { idle, busy, stop };
mtype m = idle;
active proctype P() {
	do
	:: m == idle -> m = busy
	:: m == busy -> m = stop
	:: m == busy -> m = idle
	:: m == stop -> break
	od
}
