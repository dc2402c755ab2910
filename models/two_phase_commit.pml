/*
 * Two-phase commit: a coordinator asks N participants to vote and commits only if all agree.
 * Nobody may commit when somebody aborts.
 */
#ifndef N
#define N 3
#endif

mtype = { prepare, yes, no, commit, abort, undecided };
chan to[N] = [1] of { mtype };
chan votes = [N] of { mtype };
mtype outcome[N] = undecided;
byte committed, aborted;

active [N] proctype participant()
{
	to[_pid]?prepare;
	if
	:: votes!yes;
	   if
	   :: to[_pid]?commit -> outcome[_pid] = commit; committed++
	   :: to[_pid]?abort -> outcome[_pid] = abort; aborted++
	   fi
	:: votes!no;
	   outcome[_pid] = abort;
	   aborted++;
	   to[_pid]?abort
	fi;
	assert(committed == 0 || aborted == 0)
}

active proctype coordinator()
{
	byte i;
	mtype decision = commit;
	do
	:: i < N -> to[i]!prepare; i++
	:: i == N -> break
	od;
	i = 0;
	do
	:: i < N ->
		if
		:: votes?yes
		:: votes?no -> decision = abort
		fi;
		i++
	:: i == N -> break
	od;
	i = 0;
	do
	:: i < N -> to[i]!decision; i++
	:: i == N -> break
	od
}

// quotient: holds
