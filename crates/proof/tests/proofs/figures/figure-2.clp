p([0,0],T1,T2) :- T1 = 0, T2 = 0.
p([1,P2],T1',T2) :- p([0,P2],T1,T2), T1' = T2 + 1.
p([2,P2],T1,T2) :- p([1,P2],T1,T2), (T1 < T2 ; T2 = 0).
p([0,P2],T1',T2) :- p([2,P2],T1,T2), T1' = 0.
p([P1,1],T1,T2') :- p([P1,0],T1,T2), T2' = T1 + 1.
p([P1,2],T1,T2) :- p([P1,1],T1,T2), (T2 < T1 ; T1 = 0).
p([P1,0],T1,T2') :- p([P1,2],T1,T2), T2' = 0.
assert either: p([P1,P2],T1,T2) |= P1 <> 2, P2 <> 2.
assert mutex: p([2,2],T1,T2) |= false.
assert swap: p([P1,P2],T1,T2) |= p([P2,P1],T2,T1).
