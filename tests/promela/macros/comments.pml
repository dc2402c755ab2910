// quotient: --raw --all --safety => holds, states 22, transitions 33
// quotient: --all --safety => holds, at most 22 states
/* Comments that go on over the lines of a directive, and ends of comments that close nothing. /* As here: */ */
byte x; */
#define TWICE x++; /* this comment \
  goes on */ \
  x++; \
  x--
#define ONCE x++ /* without a backslash
  it goes on, too */ ; x++
#define PRODUCT 2 */* not an end */3
active proctype P() { TWICE; ONCE; */ x = x + PRODUCT }
active proctype Q() { assert(x < 10) }
