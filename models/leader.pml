/*
 * Leader election on a ring of N nodes. Each node sends its number to its neighbour; numbers travel on
 * while they are larger than those of the nodes they pass. Who receives its own number is the leader
 * and tells the others with one more round.
 */
#ifndef N
#define N 4
#endif

mtype = { bid, winner };
chan link[N] = [N] of { mtype, byte };
byte leaders, informed;

/* Distinct numbers, small and large ones alternating around the ring. */
#define number(i) ((i) % 2 -> (i) : N + N - (i))

proctype node(byte at; byte own)
{
	byte n;
	link[(at + 1) % N]!bid(own);
	do
	:: link[at]?bid(n) ->
		if
		:: n > own -> link[(at + 1) % N]!bid(n)
		:: n < own -> skip
		:: n == own ->
			leaders++;
			assert(leaders == 1);
			link[(at + 1) % N]!winner(own)
		fi
	:: link[at]?winner(n) ->
		if
		:: n != own -> link[(at + 1) % N]!winner(n)
		:: n == own -> skip
		fi;
		break
	od;
	informed++
}

init {
	byte i;
	atomic {
		do
		:: i < N -> run node(i, number(i)); i++
		:: i == N -> break
		od
	}
}

// quotient: holds
