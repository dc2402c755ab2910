// quotient: --raw --all --safety => violated deadlock, states 3, transitions 2
// quotient: --all --safety => violated deadlock, at most 3 states
/* ?? blocks when nothing matches. */
chan c = [2] of { byte };
active proctype P() { c!1; c!2; c??3 }
