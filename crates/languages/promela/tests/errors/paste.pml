#define GLUE(a, b) a ## b
byte x;
init { x = GLUE(+, 1) }
