/*
 * Lamport's bakery for N customers. Tickets are bounded: a customer who would need a ticket above
 * MAX goes away and comes back later.
 */
#ifndef N
#define N 2
#endif
#ifndef MAX
#define MAX 4
#endif

bool drawing[N];
byte ticket[N];
byte served;

active [N] proctype customer()
{
	byte i, highest;
	do
	:: drawing[_pid] = true;
	   highest = 0;
	   i = 0;
	   do
	   :: i < N && ticket[i] > highest -> highest = ticket[i]; i++
	   :: i < N && ticket[i] <= highest -> i++
	   :: i == N -> break
	   od;
	   if
	   :: highest >= MAX ->
		drawing[_pid] = false
	   :: highest < MAX ->
		ticket[_pid] = highest + 1;
		drawing[_pid] = false;
		i = 0;
		do
		:: i < N ->
			(!drawing[i]);
			(ticket[i] == 0 || ticket[i] > ticket[_pid] || (ticket[i] == ticket[_pid] && i >= _pid));
			i++
		:: i == N -> break
		od;
		served++;
		assert(served == 1);
		served--;
		ticket[_pid] = 0
	   fi
	od
}

// quotient: holds
