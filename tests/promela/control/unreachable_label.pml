// expect: states=3 transitions=2 errors=none
// spin-default: states=3
/* Code that is never reached does no harm. */
active proctype P() { goto l; assert(false); l: skip }
