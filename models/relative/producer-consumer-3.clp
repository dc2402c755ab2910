% Producer and consumer of 3 items at a time through one flag. The consumer takes the flag (0), consumes
% (1 to 3); the producer produces (0 to 2), raises the flag (3). X counts items. The two assertions
% say that consuming and producing are serialisable. X never exceeds 9; the bound 6 is false.

p([0,0],0,0).

% consumer
p([1,P2],0,X) :- p([0,P2],F,X), F = 1.
p([2,P2],F,X - 1) :- p([1,P2],F,X).
p([3,P2],F,X - 1) :- p([2,P2],F,X).
p([4,P2],F,X - 1) :- p([3,P2],F,X).
p([0,P2],F,X) :- p([4,P2],F,X).

% producer
p([P1,1],F,X + 1) :- p([P1,0],F,X).
p([P1,2],F,X + 1) :- p([P1,1],F,X).
p([P1,3],F,X + 1) :- p([P1,2],F,X).
p([P1,4],1,X) :- p([P1,3],F,X), F = 0.
p([P1,0],F,X) :- p([P1,4],F,X).

assert consume: p([4,P2],F,X), P2 <= 3 |= p([1,P2],F,X + 3).
assert produce: p([P1,3],F,X), P1 >= 1 |= p([P1,0],F,X - 3).
assert bound: p([P1,P2],F,X) |= X <= 9 using consume, produce.

% quotient: holds
