// quotient: --raw --all --safety => holds, states 81, transitions 121
// quotient: --all --safety => holds, at most 81 states
/* Channels of a structure are made once, for the variable: a parameter has the caller's channels. */
typedef Group { chan add = [1] of { byte }; chan done = [0] of { bit }; byte members = 2 }
proctype Member(Group g; byte n) { g.add!n; g.done!1 }
init {
	Group g;
	byte x, seen, i;
	run Member(g, 3);
	run Member(g, 4);
	do
	:: i < g.members -> g.add?x; seen = seen + x; g.done?_; i++
	:: else -> break
	od;
	assert(seen == 7)
}
