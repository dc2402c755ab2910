init {
	skip;
	return 1
}
