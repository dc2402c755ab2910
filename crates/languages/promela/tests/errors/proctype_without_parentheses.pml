active proctype P {
	skip
}
