typedef T { };
typedef U { byte x; int };
init { skip }
