/*
 * Peterson's mutual exclusion for two processes.
 *
 * A process announces that it wants to enter, lets the other one go first,
 * and waits until the other does not want to enter or has given way itself.
 */
bool wants[2];
byte turn;
byte inside;		/* how many processes are in the critical section */

active [2] proctype user()
{
	do
	:: wants[_pid] = true;
	   turn = 1 - _pid;
	   (!wants[1 - _pid] || turn == _pid);

	   inside++;
	   assert(inside == 1);
	   inside--;

	   wants[_pid] = false
	od
}

// quotient: holds
