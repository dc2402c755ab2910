/*
 * The alternating bit protocol over channels that may lose any message.
 * The receiver must get the values 0, 1, 2, … modulo VALUES, each exactly once.
 */
#ifndef VALUES
#define VALUES 4
#endif

mtype = { data, ack };
chan forth = [1] of { mtype, bit, byte };
chan back  = [1] of { mtype, bit };

active proctype sender()
{
	bit b;
	byte value;
	do
	:: forth!data(b, value);
	   if
	   :: back?ack(eval(b)) ->
		b = 1 - b;
		value = (value + 1) % VALUES
	   :: back?ack(eval(1 - b)) -> skip
	   :: timeout -> skip		/* something was lost: send again */
	   fi
	od
}

active proctype receiver()
{
	bit b, expected;
	byte value, next;
	do
	:: forth?data(b, value);
	   if
	   :: b == expected ->
		assert(value == next);
		next = (next + 1) % VALUES;
		expected = 1 - expected
	   :: b != expected -> skip
	   fi;
	   back!ack(b)
	od
}

active proctype thief()
{
	do
	:: forth?data(_, _)
	:: back?ack(_)
	od
}

// quotient: holds
