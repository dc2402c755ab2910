p([0,0],0,X).
p([1,P2],0,X) :- p([0,P2],1,X).
p([2,P2],F,X-1) :- p([1,P2],F,X).
p([3,P2],F,X-1) :- p([2,P2],F,X).
p([4,P2],F,X-1) :- p([3,P2],F,X).
p([0,P2],F,X) :- p([4,P2],F,X).
p([P1,1],F,X+1) :- p([P1,0],F,X).
p([P1,2],F,X+1) :- p([P1,1],F,X).
p([P1,3],F,X+1) :- p([P1,2],F,X).
p([P1,4],F,X) :- p([P1,3],F,X).
p([P1,0],1,X) :- p([P1,4],0,X).
assert consume: p([4,P2],F,X), P2 <= 3 |= p([1,P2],F,X + 3).
assert produce: p([P1,3],F,X), P1 >= 1 |= p([P1,0],F,X - 3).
assert bound: p([P1,P2],F,X) |= X <= 6.
