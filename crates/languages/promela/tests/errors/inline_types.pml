inline f(int a) { skip }
init { skip }
