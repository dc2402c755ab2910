// expect: states=16 transitions=15 errors=none
// spin-default: states=16
/* A field used as the index of another structure. */
typedef node { byte next; bool seen };
node n[3];
active proctype P() {
	byte i;
	n[0].next = 2; n[2].next = 1; n[1].next = 0;
	do
	:: !n[i].seen -> n[i].seen = true; i = n[i].next
	:: else -> break
	od;
	assert(n[0].seen && n[1].seen && n[2].seen && i == 0)
}
