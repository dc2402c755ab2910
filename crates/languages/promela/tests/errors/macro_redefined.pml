#define N 3
#define N 4
byte x = N;
