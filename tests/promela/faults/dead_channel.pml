// quotient: --raw --all --safety => violated channel
// why: SPIN ends the search where the channel of a dead process is used
/* Using a channel whose owner has died. */
chan give = [1] of { chan };
proctype Owner() { chan mine = [1] of { byte }; give!mine }
init { chan got; run Owner(); give?got; (_nr_pr == 1); got!1 }
