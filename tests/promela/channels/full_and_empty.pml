// expect: states=12 transitions=11 errors=none
// spin-default: states=12
/* full, empty, nfull and nempty as guards. */
chan c = [2] of { byte };
active proctype P() {
	byte x;
	assert(empty(c)); c!1; assert(nempty(c) && nfull(c)); c!2; assert(full(c));
	do :: nempty(c) -> c?x :: empty(c) -> break od
}
