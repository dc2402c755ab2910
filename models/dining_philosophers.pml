/* N dining philosophers with pointers to their forks, each taking the left fork first: all of them can wait for the right one. Nobody
 * knows a number: philosophers and forks can be renamed by the rotations of the table.
 *
 * -D N=n. -D LEFT_HANDED: one philosopher takes the right fork first, so that there is no deadlock.
 */
#ifndef N
#define N 3
#endif

typedef Fork { bool held }

proctype Philosopher(Fork &left; Fork &right) {
    do
    :: atomic { !left.held -> left.held = true };
       atomic { !right.held -> right.held = true };
       right.held = false;
       left.held = false
    od
}

init {
    Fork &forks[N];
    byte i;
    atomic {
        do
        :: i < N -> &forks[i] = new Fork; i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < N - 1 -> run Philosopher(&forks[i], &forks[i + 1]); i++
        :: else -> break
        od;
#ifdef LEFT_HANDED
        run Philosopher(&forks[0], &forks[N - 1]);
#else
        run Philosopher(&forks[N - 1], &forks[0]);
#endif
        i = 0;
        do
        :: i < N -> &forks[i] = null; i++
        :: else -> break
        od
    }
}

// quotient: violated deadlock
