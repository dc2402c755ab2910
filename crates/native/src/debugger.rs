//! How gdb gets to a place in a repeated schedule: commands for it.
//!
//! The runtime knows when a thread is about to make a step, or fails, and calls a function for the debugger then. But that is
//! inside of the runtime, and from there the debugger's `next` would not lead back to the program. So the schedule is run
//! three times: to that function, where the statement of the program and the frame of its function are looked up; once more, where
//! it is counted how often that thread comes to the statement until then (a frame belongs to one thread at a time); and to the last
//! of these times. Schedules are repeated exactly, addresses included, so this is the same place.
//!
//! At that place the thread has come to the statement. Other threads may make steps before it makes its own: they do so when the
//! debugger goes on, and `next` still ends after the statement, in the same frame.
//!
//! Threads of the program are contexts of one kernel thread, of which the thread library's own helper knows nothing: it is left out.

/// Stops inside of the runtime.
pub(crate) const TO_THE_RUNTIME: &str = "\
set confirm off
set pagination off
set startup-with-shell off
set print thread-events off
set libthread-db-search-path /nowhere
set breakpoint pending on
break __quotient_stop
run
";

/// Stops in the program, at the statement of `function` that makes the step.
pub(crate) fn script(function: &str) -> String {
    let silent =
        TO_THE_RUNTIME.replace("break __quotient_stop\n", "break __quotient_stop\ncommands\nsilent\nend\n");
    format!(
        "{silent}\
frame function {function}
set $quotient_frame = $rbp
info line *($pc - 1)
set $quotient_statement = (long)$_
set $quotient_times = 0
break *$quotient_statement if $rbp == $quotient_frame && ($quotient_times = $quotient_times + 1, 0)
run
set $quotient_last = $quotient_times
if $quotient_last > 0
  delete
  set $quotient_times = 0
  tbreak *$quotient_statement if $rbp == $quotient_frame && ($quotient_times = $quotient_times + 1, $quotient_times == $quotient_last)
  run
else
  frame function {function}
end
"
    )
}
