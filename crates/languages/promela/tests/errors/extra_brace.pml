init {
	skip
}}
byte x;
