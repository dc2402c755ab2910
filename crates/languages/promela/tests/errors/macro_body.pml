#define LIMIT 3 +
byte x;
init {
	x = LIMIT;
	x = 1
}
