/*
 * PRODUCERS send numbered items through one buffer of SIZE places to CONSUMERS.
 * No item gets lost: what was produced is either in the buffer, in somebody's hands, or consumed.
 */
#ifndef PRODUCERS
#define PRODUCERS 2
#endif
#ifndef CONSUMERS
#define CONSUMERS 2
#endif
#ifndef SIZE
#define SIZE 2
#endif
#ifndef ITEMS
#define ITEMS 3
#endif

chan buffer = [SIZE] of { byte, byte };		/* producer, item */
byte produced, consumed;

active [PRODUCERS] proctype producer()
{
	byte item;
	do
	:: item < ITEMS ->
		atomic { buffer!_pid,item; produced++ };
		item++
	:: item == ITEMS -> break
	od
}

active [CONSUMERS] proctype consumer()
{
	byte from, item;
end:	do
	:: atomic { buffer?from,item; consumed++ };
	   assert(item < ITEMS && consumed <= produced)
	od
}

// quotient: holds
