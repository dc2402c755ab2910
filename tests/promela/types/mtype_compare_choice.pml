// expect: states=8 transitions=8 errors=none
// spin-default: states=8
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
