byte x;
init {
	switch (x) { case 1: skip }
}
