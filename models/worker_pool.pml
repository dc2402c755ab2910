/* A pool that starts a worker for each job, at most WORKERS at a time. A job is an object with a function to be done and a channel for the
 * answer; workers end when their job is done, and jobs are gone when nobody refers to them.
 *
 * -D JOBS=n, -D WORKERS=n. -D LATE: the pool forgets to wait for an answer before it looks at the result.
 */
#ifndef JOBS
#define JOBS 3
#endif
#ifndef WORKERS
#define WORKERS 2
#endif

typedef Job {
    byte input, output;
    ftype work;
    chan &done
}

byte working;

function twice(byte n) : byte { return n + n }
function square(byte n) : byte { return n * n }

proctype Worker(Job &job) {
    byte result;
    result = job.work(job.input);
    job.output = result;
    job.done!1;
    atomic { working--; &job = null }
}

active proctype Pool() {
    Job &jobs[JOBS];
    byte i;
    do
    :: i < JOBS ->
        atomic {
            &jobs[i] = new Job;
            jobs[i].input = i + 1;
            if
            :: i % 2 == 0 -> jobs[i].work = twice
            :: else -> jobs[i].work = square
            fi;
            &jobs[i].done = new chan = [1] of { bit }
        };
        atomic { working < WORKERS -> working++; run Worker(&jobs[i]) };
        i++
    :: else -> break
    od;
    i = 0;
    do
    :: i < JOBS ->
#ifndef LATE
        jobs[i].done?_;
#endif
        assert(jobs[i].output == (i % 2 == 0 -> 2 * (i + 1) : (i + 1) * (i + 1)));
        &jobs[i] = null;
        i++
    :: else -> break
    od
}

// quotient: holds
// quotient: -D LATE=1 => violated assertion
