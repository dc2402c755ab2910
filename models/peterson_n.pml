/*
 * Peterson's algorithm for N processes: N - 1 levels, on each of which one process waits.
 */
#ifndef N
#define N 3
#endif

byte level[N];		/* the level a process has reached, 0 outside */
byte last_in[N];	/* the process that arrived last at each level */
byte inside;

active [N] proctype user()
{
	byte at, other;
	do
	:: at = 1;
	   do
	   :: at < N ->
		level[_pid] = at;
		last_in[at] = _pid;
		other = 0;
		do
		:: other < N ->
			(other == _pid || level[other] < at || last_in[at] != _pid);
			other++
		:: other == N -> break
		od;
		at++
	   :: at == N -> break
	   od;
	   inside++;
	   assert(inside == 1);
	   inside--;
	   level[_pid] = 0
	od
}

// quotient: holds
