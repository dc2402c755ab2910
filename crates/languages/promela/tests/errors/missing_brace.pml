byte x;
active proctype P() {
	x = 1;
	atomic { x = 2
active proctype Q() {
	x = 3
}
