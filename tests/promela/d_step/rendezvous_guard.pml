// quotient: --raw --all --safety => holds, states 4, transitions 3
// quotient: --all --safety => holds, at most 4 states
/* Rendezvous receives as the guards of a choice that a deterministic step begins with. */
chan c = [0] of { byte };
byte got;
active proctype S() { c!1; c!2; c!3 }
active proctype R() { end: do :: d_step { if :: c?2 -> got = 7 :: c?got -> got = got + 1 :: got == 9 -> got = 0 fi; got = got * 2 } od }
