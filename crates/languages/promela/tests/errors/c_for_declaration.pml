init {
	for (int i : 1 .. 3) { skip }
}
