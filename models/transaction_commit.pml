/* Transaction commit, as in Lamport's TCommit: N resource managers prepare, and then commit together or abort.
 *
 * -D N=n resource managers.
 */
#ifndef N
#define N 3
#endif

byte prepared, committed, aborted, done;

active [N] proctype manager()
{
	if
	:: prepared++;
	   if
	   :: atomic { prepared == N -> committed++; done++ }
	   :: atomic { committed == 0 -> aborted++; prepared--; done++ }
	   fi
	:: atomic { committed == 0 -> aborted++; done++ }
	fi;
	assert(committed == 0 || aborted == 0)
}

// quotient: holds
