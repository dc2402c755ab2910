byte x;
x = 1;
assert(x == 1);
init { skip }
