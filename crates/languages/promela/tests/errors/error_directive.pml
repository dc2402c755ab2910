#ifndef N
#error "define N: -D N=3"
#warning and this's a warning
#endif
byte x;
