proctype P() { L: skip }
init {
	P[0]@;
	a.b@L;
	P[0]@L && P@L
}
