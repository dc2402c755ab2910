init {
	skip;
	fi
	skip
}
