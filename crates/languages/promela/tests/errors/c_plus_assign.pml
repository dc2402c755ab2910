byte i;
init {
	i += 2;
	i &&= 1
}
