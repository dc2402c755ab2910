byte x;
/* this never ends
init { skip }
