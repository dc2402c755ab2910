// quotient: --raw --all --safety => holds, states 16, transitions 15
// quotient: --all --safety => holds, at most 16 states
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
