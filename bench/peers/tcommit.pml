/* Lamport's TCommit state by state: the specification of TLA+ Examples, with N resource managers. */
#ifndef N
#define N 3
#endif
#define WORKING   0
#define PREPARED  1
#define COMMITTED 2
#define ABORTED   3

byte rm[N];
/* Counts of what stands in rm: they add no states. */
byte prepared, committed;

active [N] proctype manager()
{
end:
	do
	:: d_step { rm[_pid] == WORKING -> rm[_pid] = PREPARED; prepared++ }
	:: d_step { rm[_pid] == PREPARED && prepared + committed == N -> rm[_pid] = COMMITTED; prepared--; committed++ }
	:: d_step { rm[_pid] == WORKING && committed == 0 -> rm[_pid] = ABORTED }
	:: d_step { rm[_pid] == PREPARED && committed == 0 -> rm[_pid] = ABORTED; prepared-- }
	od
}
