/*
 * N dining philosophers. Everybody picks up the left fork, then the right one:
 * when all hold their left fork, nobody can go on.
 */
#ifndef N
#define N 4
#endif
#define left  _pid
#define right ((_pid + 1) % N)

bool taken[N];

active [N] proctype philosopher()
{
	do
	:: atomic { !taken[left] -> taken[left] = true };
	   atomic { !taken[right] -> taken[right] = true };
	   taken[right] = false;
	   taken[left] = false
	od
}

// quotient: violated deadlock
