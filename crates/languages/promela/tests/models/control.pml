// Control flow, with line breaks in place of semicolons.
byte x, y = 2
int total
bool busy[4]
active [2] proctype worker() priority 3 provided (x < 10 && !busy[0]) {
	byte i, j
	int sum = 0
	for (i : 0 .. 3) {
		sum = sum + i * 2
		busy[i] = true
	}
	for (i in busy) { skip }
	for (j : 1 .. x)
	{
		total++
	}
	select (j : 1 .. 5)
	select (j : x .. y + 1);
	do
	:: x < 5 -> x++
	:: else
		if
		:: y > 3; y-- -> skip
		:: (x & 1) == 0 || x ^ 3 > ~y -> x = (x > y -> x - y : y - x)
		:: else -> break
		fi
	od
	{ x = 1; y = 2 } unless { x > 3 -> y = 1 }
	d_step { x = x << 1; y = y >> 1; };
	L: M: x = -x % 7
	goto L;
progress_here:
	skip; ; skip
	x = get_priority(_pid); set_priority(_pid, 1)
	assert(enabled(_pid) || pc_value(_pid) > 0 || _last == 0 || _nr_pr < 3)
	atomic { x = 3 -> y = 4 } x = 1
end_last:
}
D_proctype other(byte a; int b, c) { a == b && worker[1]@L && worker@M; worker[a]:x == 1; worker:i == 2 }
init { skip }
