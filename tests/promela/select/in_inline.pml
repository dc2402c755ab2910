// quotient: --raw --all --safety => holds, states 31, transitions 50
// quotient: --all --safety => holds, at most 22 states
/* In an inline, select counts up and may stop at any value. */
inline choose() { byte i; select (i : 0 .. 2) }
active proctype A() { choose() }
active proctype B() { skip }
