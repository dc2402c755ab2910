//! How often each construct appears.

/// Weights and percentages of the generator. A weight of 0 switches a construct off.
#[derive(Clone, Debug)]
pub struct Knobs {
    /// Statements of a proctype's body, about.
    pub size: usize,
    /// Weight of assignments.
    pub assign: u32,
    /// Weight of `x++` and `x--`.
    pub count: u32,
    /// Weight of conditions as statements.
    pub condition: u32,
    /// Weight of sends.
    pub send: u32,
    /// Weight of receives.
    pub receive: u32,
    /// Weight of `if`.
    pub selection: u32,
    /// Weight of `do`.
    pub repetition: u32,
    /// Weight of `atomic`.
    pub atomic: u32,
    /// Weight of `d_step`.
    pub d_step: u32,
    /// Weight of `unless`.
    pub unless: u32,
    /// Weight of `goto`.
    pub goto: u32,
    /// Weight of blocks with declarations.
    pub block: u32,
    /// Weight of declarations between statements.
    pub declaration: u32,
    /// Weight of `assert`.
    pub assert: u32,
    /// Weight of `for`.
    pub for_loop: u32,
    /// Weight of `select`.
    pub select: u32,
    /// Weight of `printf`.
    pub print: u32,
    /// Weight of `skip`.
    pub skip: u32,
    /// Weight of a channel received in a message and used at once.
    pub carried: u32,
    /// Weight of variables that are used as locks.
    pub lock: u32,
    /// Percentage of proctypes with a `provided` clause.
    pub provided: u32,
    /// Percentage of conditions that are remote references, where one is possible.
    pub remote: u32,
    /// Percentage of options guarded by `timeout`.
    pub timeout: u32,
    /// Percentage of indices that may lie outside their array.
    pub wild_index: u32,
    /// May arrays of bits, and messages of a single bit, be given values other than 0 and 1? SPIN's
    /// verifier keeps those in bytes and its simulator cuts them down; the engine follows the simulator.
    pub wide_bits: bool,
    /// Percentage of labels put inside atomic sequences.
    pub label_in_atomic: u32,
    /// Percentage of d_step selections without `else`, which may block.
    pub d_step_blocks: u32,
    /// Percentage of channel operations that are run-time errors: messages with too few fields, polls and peeks of
    /// rendezvous channels, and rendezvous where a `d_step` cannot have it.
    pub channel_faults: u32,
    /// Percentage of proctypes with `progress`, `accept` and `end` labels inside of compound statements.
    pub meaningful_labels: u32,
}

impl Default for Knobs {
    fn default() -> Self {
        Knobs {
            size: 5,
            assign: 20,
            count: 6,
            condition: 8,
            send: 12,
            receive: 13,
            selection: 9,
            repetition: 7,
            atomic: 7,
            d_step: 5,
            unless: 5,
            goto: 4,
            block: 3,
            declaration: 1,
            assert: 4,
            for_loop: 6,
            select: 2,
            print: 2,
            skip: 2,
            carried: 5,
            lock: 0,
            provided: 8,
            remote: 25,
            timeout: 5,
            wild_index: 1,
            wide_bits: false,
            label_in_atomic: 10,
            d_step_blocks: 3,
            channel_faults: 1,
            meaningful_labels: 30,
        }
    }
}
