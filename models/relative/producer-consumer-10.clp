% Producer and consumer of 10 items at a time through one flag. The consumer takes the flag (0), consumes
% (1 to 10); the producer produces (0 to 9), raises the flag (10). X counts items. The two assertions
% say that consuming and producing are serialisable. X never exceeds 30; the bound 20 is false.

p([0,0],0,0).

% consumer
p([1,P2],0,X) :- p([0,P2],F,X), F = 1.
p([2,P2],F,X - 1) :- p([1,P2],F,X).
p([3,P2],F,X - 1) :- p([2,P2],F,X).
p([4,P2],F,X - 1) :- p([3,P2],F,X).
p([5,P2],F,X - 1) :- p([4,P2],F,X).
p([6,P2],F,X - 1) :- p([5,P2],F,X).
p([7,P2],F,X - 1) :- p([6,P2],F,X).
p([8,P2],F,X - 1) :- p([7,P2],F,X).
p([9,P2],F,X - 1) :- p([8,P2],F,X).
p([10,P2],F,X - 1) :- p([9,P2],F,X).
p([11,P2],F,X - 1) :- p([10,P2],F,X).
p([0,P2],F,X) :- p([11,P2],F,X).

% producer
p([P1,1],F,X + 1) :- p([P1,0],F,X).
p([P1,2],F,X + 1) :- p([P1,1],F,X).
p([P1,3],F,X + 1) :- p([P1,2],F,X).
p([P1,4],F,X + 1) :- p([P1,3],F,X).
p([P1,5],F,X + 1) :- p([P1,4],F,X).
p([P1,6],F,X + 1) :- p([P1,5],F,X).
p([P1,7],F,X + 1) :- p([P1,6],F,X).
p([P1,8],F,X + 1) :- p([P1,7],F,X).
p([P1,9],F,X + 1) :- p([P1,8],F,X).
p([P1,10],F,X + 1) :- p([P1,9],F,X).
p([P1,11],1,X) :- p([P1,10],F,X), F = 0.
p([P1,0],F,X) :- p([P1,11],F,X).

assert consume: p([11,P2],F,X), P2 <= 10 |= p([1,P2],F,X + 10).
assert produce: p([P1,10],F,X), P1 >= 1 |= p([P1,0],F,X - 10).
assert bound: p([P1,P2],F,X) |= X <= 30 using consume, produce.

% quotient: holds
