byte x;
init {
	if
	:: (x = 1) -> skip
	:: else
	fi
}
