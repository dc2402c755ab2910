// quotient: --raw --all --safety => violated index
// why: SPIN reports the index and then uses whatever number lies behind the array as a channel
/* A bad index into an array of channels. */
chan c[2] = [1] of { byte }; byte i = 2;
active proctype P() { c[i]!1 }
