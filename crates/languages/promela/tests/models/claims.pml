byte x; bool p, q;
chan c = [1] of { byte };
#define high (x > 3)
ltl first { [] (p -> <> q) && (high U (x == 4)) };
ltl { always (p implies eventually q) || !(p W q) || (p V q) }
ltl third { X p <-> (p release q) equivalent (next p) and (p until q) or (p weakuntil q) /\ p \/ len(c) > 0 }
never claim {
T0_init:
	do
	:: !p && x == 1 -> goto accept_all
	:: np_ || P@label || P[0]@label
	od;
accept_all:
	skip
}
notrace { do :: c!1; c?1 od }
active proctype P() {
label:	p = true; c!1; c?_; x = 4
}
