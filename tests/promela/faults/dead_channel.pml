// expect-own: errors=channel
// why: SPIN keeps the number of the dead process's channel, which may meanwhile name another one
/* Using a channel whose owner has died. */
chan give = [1] of { chan };
proctype Owner() { chan mine = [1] of { byte }; give!mine }
init { chan got; run Owner(); give?got; (_nr_pr == 1); got!1 }
