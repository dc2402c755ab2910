// quotient: --raw --all --safety => holds, states 48, transitions 80
// quotient: --all --safety => holds, at most 48 states
/* A token passed around a ring of three. */
chan q[3] = [1] of { bit };
byte rounds;
active [3] proctype P() {
	if :: _pid == 0 -> q[0]!1 :: else fi;
	end: do :: q[_pid]?1 -> if :: _pid == 0 -> rounds++ :: else fi; if :: rounds < 2 -> q[(_pid + 1) % 3]!1 :: else -> break fi od
}
