// expect: states=10 transitions=12 errors=none
// spin-default: states=10
/* A label reference to a process that has run past it. */
active proctype P() { l: skip; skip }
active proctype Q() { (!P@l); skip }
