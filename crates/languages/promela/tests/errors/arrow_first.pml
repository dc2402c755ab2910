byte x;
init {
	if
	:: -> x = 1
	fi
}
