// quotient: --raw --all --safety => holds, states 4, transitions 3
// quotient: --all --safety => holds, at most 4 states
/* A macro that expands to another one. */
#define INNER(n) (n + 1)
#define OUTER(n) INNER(INNER(n))
#define N OUTER(1)
byte a[N];
active proctype P() { a[N - 1] = N; assert(a[2] == 3) }
