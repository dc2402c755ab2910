init {
	printf("hello);
	skip
}
