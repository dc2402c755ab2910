/*
 * A buffer process between clients: puts and gets are rendezvous with the buffer,
 * which accepts a put only when it has room and a get only when it holds something.
 */
#ifndef SIZE
#define SIZE 3
#endif
#ifndef CLIENTS
#define CLIENTS 2
#endif

/*
 * A rendezvous cannot carry a condition of its own, so each channel comes twice: clients use
 * number 1; number 0 has no partner, and the buffer turns to it while it must not be served.
 */
chan put[2] = [0] of { byte };
chan get[2] = [0] of { byte };
byte stored;

active proctype buffer()
{
	byte cell[SIZE];
	byte first, value;
end:	do
	:: put[stored < SIZE]?value ->
		cell[(first + stored) % SIZE] = value;
		stored++
	:: get[stored > 0]!cell[first] ->
		first = (first + 1) % SIZE;
		stored--
	od
}

active [CLIENTS] proctype giver()
{
	put[1]!_pid;
	put[1]!_pid + 10
}

active [CLIENTS] proctype taker()
{
	byte value;
	get[1]?value;
	get[1]?value;
	assert(stored <= SIZE)
}

// quotient: holds
