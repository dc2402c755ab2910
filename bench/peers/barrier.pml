/* Barrier of TLA+ Examples (specifications/barriers), action by action: N processes arrive, and when all have, they all go on. */
#ifndef N
#define N 6
#endif

bit at[N];
/* How many have arrived: it adds no states. */
byte arrived;

active [N] proctype process()
{
end:
	do
	:: d_step { at[_pid] == 0 -> at[_pid] = 1; arrived++ }
	od
}

active proctype leaving()
{
	byte p;
end:
	do
	:: d_step { arrived == N -> for (p : 0 .. N - 1) { at[p] = 0 } p = 0; arrived = 0 }
	od
}
