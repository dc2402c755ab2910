byte x : 3;
unsigned y : 3;
init { skip }
