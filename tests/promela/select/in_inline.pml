// expect: states=31 transitions=50 errors=none
// spin-default: states=22
/* In an inline, select counts up and may stop at any value. */
inline choose() { byte i; select (i : 0 .. 2) }
active proctype A() { choose() }
active proctype B() { skip }
