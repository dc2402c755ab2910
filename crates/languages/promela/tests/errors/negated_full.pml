chan c = [1] of { byte };
init {
	!full(c) -> skip
}
