// expect: states=18 transitions=17 errors=none
// spin-default: states=15
/* A block entered again on every turn of a loop: the variable is initialised when the process starts and keeps its last value. */
byte sum;
active proctype P() {
	byte i;
	do
	:: i < 3 -> { byte t; t = t + 1; sum = sum + t; i++ }
	:: else -> break
	od
}
