init {
	inline f() { skip }
	proctype P() { skip }
}
