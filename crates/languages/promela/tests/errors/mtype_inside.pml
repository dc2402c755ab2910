init {
	mtype = { a, b };
	skip
}
