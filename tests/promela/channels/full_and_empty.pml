// quotient: --raw --all --safety => holds, states 12, transitions 11
// quotient: --all --safety => holds, at most 12 states
/* full, empty, nfull and nempty as guards. */
chan c = [2] of { byte };
active proctype P() {
	byte x;
	assert(empty(c)); c!1; assert(nempty(c) && nfull(c)); c!2; assert(full(c));
	do :: nempty(c) -> c?x :: empty(c) -> break od
}
