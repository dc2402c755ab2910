byte x
active proctype P() {
	x = ;
	if
	:: x == -> skip
	:: x > 1 -> y ! ;
	:: else
	fi;
	goto ;
	x = 3 3;
	assert()
}
proctype Q(byte) { skip }
active proctype R() { x = (1 + ; x = 2 }
