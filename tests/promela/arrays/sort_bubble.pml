// quotient: --raw --all --safety => holds, states 247, transitions 264
// quotient: --all --safety => holds, at most 247 states
/* Bubble sort from a nondeterministic start. */
byte a[3];
active proctype P() {
	byte i, t;
	do
	:: i < 3 -> if :: a[i] = 0 :: a[i] = 1 :: a[i] = 2 fi; i++
	:: i == 3 -> break
	od;
	do
	:: a[0] > a[1] -> t = a[0]; a[0] = a[1]; a[1] = t
	:: a[1] > a[2] -> t = a[1]; a[1] = a[2]; a[2] = t
	:: else -> break
	od;
	assert(a[0] <= a[1] && a[1] <= a[2])
}
