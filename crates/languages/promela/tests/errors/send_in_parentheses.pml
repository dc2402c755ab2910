chan c = [1] of { byte, byte };
init {
	c!(1, 2)
}
