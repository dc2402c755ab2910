/* Every channel operation once. */
#define N 2
mtype = { request, reply, stop };
mtype:colour = { red, green };
typedef Message { byte from; mtype kind = request; short data[3] };
chan queue = [N] of { mtype, byte, bool };
chan meet = [0] of { Message };
chan many[3] = [1] of { byte };
chan names = [1] of { chan, mtype:colour };
unsigned bits : 5 = 3, more : 2;
hidden int scratch;
show byte shown = 'a';
local bool mine;
byte table[4] = { 1, 2, 3, 4 };

proctype sender(chan out; byte id, n) {
	xs out;
	Message m;
	m.from = id; m.data[1] = n;
	out!request(id, true);
	out!!reply, id, false;
	many[id]!n;
	meet!m;
	names!queue, red;
	if
	:: nfull(out) && len(many[0]) < 1 -> skip
	:: full(queue) || nempty(many[1]) || empty(many[2])
	fi
}

active proctype receiver() {
	xr queue;
	byte who; bool flag; mtype kind; Message m;
	chan c; mtype:colour col;
end:	do
	:: queue?request(who, flag) -> printf("%d\n", who)
	:: queue??reply, eval(who + 1), _
	:: queue?<kind, who, flag>
	:: queue??<stop, _, true> -> break
	:: queue?[request, who, flag] && who > 0 -> skip
	:: queue??[reply(who, _)]
	:: many[who % 3]?-1
	:: meet?m -> who = m.data[m.from]
	:: names?c, col; c!stop, 0, 'x' == 120
	:: timeout -> goto done
	od
done:	assert(who < 3); assert flag == true || (flag -> 1 : 0);
	printm(kind); printm(stop)
}

init {
	atomic {
		run sender(queue, 1, 2);
		scratch = run receiver()
	}
}
