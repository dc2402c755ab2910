/* Mutual exclusion among N processes that do not differ: idle, trying, critical. Only how many are where matters, so with symmetry
 * the states grow linearly with N (2 N + 2); without it, exponentially.
 *
 * -D N=n processes.
 */
#ifndef N
#define N 5
#endif

bool taken;

proctype worker()
{
	do
	:: skip;                              /* idle */
	   atomic { !taken -> taken = true }; /* trying */
	   taken = false                      /* critical */
	od
}

init {
	byte i;
	atomic {
		do
		:: i < N -> run worker(); i++
		:: else -> break
		od
	}
}

// quotient: holds
