byte i;
init {
	++i;
	i = 2
}
