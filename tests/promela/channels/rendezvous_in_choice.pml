// quotient: --raw --all --safety => violated deadlock, states 20, transitions 24
// quotient: --all --safety => violated deadlock, at most 20 states
/* Rendezvous offers on both sides of choices. */
chan a = [0] of { bit };
chan b = [0] of { bit };
byte n;
active proctype S() { do :: a!1 :: b!0 :: n >= 2 -> break od }
active proctype R() { end: do :: n < 3 -> if :: a?1 -> n++ :: b?0 -> n = n + 2 fi od }
