/*
 * READERS may read together, WRITERS write alone. A monitor in the form of atomic
 * entry conditions; waiting writers keep new readers out.
 */
#ifndef READERS
#define READERS 2
#endif
#ifndef WRITERS
#define WRITERS 2
#endif

byte reading, writing, waiting;

active [READERS] proctype reader()
{
	do
	:: atomic { writing == 0 && waiting == 0 -> reading++ };
	   assert(writing == 0);
	   reading--
	od
}

active [WRITERS] proctype writer()
{
	do
	:: waiting++;
	   atomic { reading == 0 && writing == 0 -> waiting--; writing++ };
	   assert(writing == 1 && reading == 0);
	   writing--
	od
}

// quotient: holds
