// quotient: --raw --all --safety => holds, states 18, transitions 17
// quotient: --all --safety => holds, at most 15 states
/* A block entered again on every turn of a loop: the variable is initialised when the process starts and keeps its last value. */
byte sum;
active proctype P() {
	byte i;
	do
	:: i < 3 -> { byte t; t = t + 1; sum = sum + t; i++ }
	:: else -> break
	od
}
