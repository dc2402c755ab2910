//! The reference interpreter: an explicit-state search that walks the tree, for comparison only.
//!
//! It gives SPIN's meaning to a model as `spin -o1 -o2 -o3 -a; cc -DSAFETY -DNOREDUCE -DNOCLAIM;
//! ./pan -c0` does: no reduction of any kind, one state per control element and valuation, errors
//! counted and passed over. It shares nothing with the engine but the syntax tree.
//!
//! How to read it: `names` resolves names, `build` turns statements into the `elements` whose
//! identity is a process's location, `table` lists the steps at each element, `step` and `state`
//! execute them, `search` decides what is stored.
//!
//! Where it deviates from SPIN on purpose: most *faults* (see [`Fault`]) end the path. SPIN reports the same
//! fault and goes on in a state that is no longer meaningful, or aborts the search; so counts agree only
//! for programs without such faults. Where it is clear what happens after a fault, the path goes on as it does in SPIN
//! ([`Fault::goes_on`]).
//!
//! Not supported (an error says so): priorities, `enabled`, `pc_value`, `_last`, `np_`, `D_proctype`,
//! trace assertions, labels on the parts of `unless`. Never claims and formulas are left out, as with
//! `-DNOCLAIM`.

mod build;
mod elements;
mod names;
mod resolved;
mod search;
mod state;
mod step;
mod table;

use build::Builder;
use names::{Declared, Names, Signature, Type};
use quotient_promela::ast::*;
use resolved::*;
use search::Search;
use state::{Context, Proctype, Program, State};
use std::collections::{BTreeSet, HashMap};

/// Something that must not happen, other than a violated assertion or a deadlock. It ends the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// An index outside its array.
    IndexOutOfBounds,
    /// Division or remainder by zero (or of the least integer by -1).
    Division,
    /// A shift by a negative number or by 32 and more.
    Shift,
    /// A channel variable that was never set.
    UninitialisedChannel,
    /// A channel that died with the process that declared it.
    DeadChannel,
    /// More fields than the channel's messages have.
    WrongNumberOfFields,
    /// A send with fewer values than the messages have fields; the others are 0.
    FewerSent,
    /// A receive with fewer fields than the message has; the others are dropped.
    FewerReceived,
    /// A rendezvous channel was polled.
    PolledRendezvous,
    /// A statement inside `d_step` blocked.
    BlockedInDStep,
    /// A rendezvous inside `d_step`.
    RendezvousInDStep,
    /// A `d_step` that does not end.
    EndlessDStep,
    /// `run` of the 256th process.
    TooManyProcesses,
    /// A remote reference to a process that does not exist or is of another proctype.
    NoSuchProcess,
}

impl Fault {
    /// Does the path go on, so that counts can be compared?
    pub fn goes_on(self) -> bool {
        matches!(self, Fault::FewerSent | Fault::FewerReceived)
    }
}

/// What the search found.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Outcome {
    /// Distinct stored states.
    pub states: usize,
    /// Steps from a stored state to a stored state: SPIN's "transitions" minus one.
    pub transitions: usize,
    /// Stored states where nothing can happen although not every process is at a valid end.
    pub invalid_end_states: usize,
    /// How often an assertion was violated, over all steps.
    pub assertion_failures: usize,
    /// The kinds of fault met.
    pub faults: BTreeSet<Fault>,
    /// SPIN's counts mean nothing here. A process stood where its table has no row although it can go on: at an `unless` that starts with
    /// a jump out of an atomic sequence. Or a `d_step` changed a hidden variable: SPIN does not restore it when it goes back over
    /// the step, and then, going back over a receive into it, puts back a message that nobody sent. Or a message was offered beside an `else`, nobody took it, and a `d_step` could have gone
    /// another way: SPIN does not take the `else` (and calls such a choice dubious).
    pub beyond_spin: bool,
    /// Everything was explored; else the other numbers are lower bounds.
    pub complete: bool,
}

/// Explores `model`, storing at most `limit` states. An error means that the model is wrong or uses
/// something that is not supported.
pub fn interpret(model: &Model, limit: usize) -> Result<Outcome, String> {
    let (program, globals, active, _) = load(model)?;
    let state = initial_state(&program, globals, active)?;
    Ok(Search::run(&program, state, limit))
}

/// The states and steps of `model`: by number of the state, where its steps lead (to itself where nothing can happen), and
/// which of `propositions` hold there. State 0 is the initial one. An error also when there are more than `limit` states or
/// a fault.
pub fn state_graph(model: &Model, propositions: &[Expr], limit: usize) -> Result<StateGraph, String> {
    let (program, globals, active, names) = load(model)?;
    let state = initial_state(&program, globals, active)?;
    let propositions = propositions.iter().map(|e| names.value(e)).collect::<Result<Vec<_>, _>>()?;
    let (mut successors, letters) =
        Search::graph(&program, state, limit, &propositions).ok_or("too large, or a fault")?;
    for (number, list) in successors.iter_mut().enumerate() {
        list.sort_unstable();
        list.dedup();
        if list.is_empty() {
            list.push(number);
        }
    }
    Ok(StateGraph { successors, letters })
}

/// See [`state_graph`].
#[derive(Clone, Debug)]
pub struct StateGraph {
    /// Where the steps of each state lead; never empty.
    pub successors: Vec<Vec<usize>>,
    /// Which propositions hold in each state.
    pub letters: Vec<Vec<bool>>,
}

fn initial_state(program: &Program, globals: Globals, active: Vec<usize>) -> Result<State, String> {
    let (global_cells, hidden_cells) = (globals.global_cells, globals.hidden_cells);
    let mut state = State::default();
    state.stored.globals = vec![0; global_cells];
    state.hidden = vec![0; hidden_cells];
    let mut context = Context { program, state: &mut state, me: 0, timeout: false };
    let failed = |fault: Fault| format!("fault in an initialiser: {fault:?}");
    for (_, store, initialise) in &globals.initialise {
        context.initialise(initialise, *store).map_err(failed)?;
    }
    for proctype in active {
        // Instances made by `active` have zero for their parameters.
        let zeros = vec![Value::Number(0); program.proctypes[proctype].parameters.len()];
        context.run(proctype, &zeros).map_err(failed)?;
    }
    Ok(state)
}

struct Globals {
    global_cells: usize,
    hidden_cells: usize,
    initialise: Vec<(usize, Store, Initialise)>,
}

/// What the interpreter says to pointers and functions.
const DYNAMIC: &str = "pointers and functions are not supported";

/// SPIN initialises globals type by type in this order, each in order of declaration; an initialiser that
/// reads a variable initialised later finds 0.
fn class(ty: &TypeName) -> usize {
    match ty {
        TypeName::Unsigned => 0,
        TypeName::Bit | TypeName::Bool => 1,
        TypeName::Byte | TypeName::Pid => 2,
        TypeName::Chan => 3,
        TypeName::Mtype(_) => 4,
        TypeName::Short => 5,
        TypeName::Int => 6,
        TypeName::Named(_) | TypeName::Ftype | TypeName::Pointer(_) => 7,
    }
}

/// Resolves and builds everything; also the proctypes of the first processes, in order.
fn load(model: &Model) -> Result<(Program, Globals, Vec<usize>, Names), String> {
    if model.dynamic {
        return Err(DYNAMIC.to_string());
    }
    let mut names = Names::default();
    names.mtypes(model);
    for unit in &model.units {
        if let Unit::Typedef(typedef) = unit {
            names.typedef(typedef)?;
        }
    }
    names.signatures = signatures(model, &names)?;
    let mut initialise: Vec<(usize, Store, Initialise)> = Vec::new();
    let mut program = Program::default();
    let mut active = Vec::new();
    for unit in &model.units {
        match unit {
            // Claims are compiled out (NOCLAIM).
            Unit::Mtype(_) | Unit::Ltl(_) | Unit::Never(_) | Unit::Typedef(_) => {}
            Unit::Function(_) => return Err(DYNAMIC.to_string()),
            Unit::Trace(_) => return Err("trace assertions are not supported".to_string()),
            Unit::Declaration(declaration) => global(&mut names, declaration, &mut initialise)?,
            Unit::Proctype(p) => {
                if p.deterministic || p.priority.is_some() {
                    return Err("D_proctype and priority are not supported".to_string());
                }
                let index = program.proctypes.len();
                let count = match &p.active {
                    None => 0,
                    Some(Active { count: None, .. }) => 1,
                    Some(Active { count: Some(e), .. }) => {
                        names.constant(e).ok_or("number of instances is not a number")?
                    }
                };
                active.extend((0..count).map(|_| index));
                let built = proctype(&mut names, index, &p.params, &p.body, &p.provided)?;
                program.proctypes.push(built);
            }
            Unit::Init(init) => {
                if init.priority.is_some() {
                    return Err("priority is not supported".to_string());
                }
                let index = program.proctypes.len();
                active.push(index);
                program.proctypes.push(proctype(&mut names, index, &[], &init.body, &None)?);
            }
        }
    }
    initialise.sort_by_key(|(class, _, _)| *class);
    let locals = program.proctypes.iter().flat_map(|p| &p.initialise);
    for with in initialise.iter().map(|(_, _, i)| i).chain(locals).map(|i| &i.with) {
        if let InitialValue::Channel(ty) = with
            && !program.channel_types.contains(ty)
        {
            program.channel_types.push(ty.clone());
        }
    }
    let globals = Globals { global_cells: names.global_cells, hidden_cells: names.hidden_cells, initialise };
    Ok((program, globals, active, names))
}

fn signatures(model: &Model, names: &Names) -> Result<Vec<Signature>, String> {
    let signature = |name: &str| Signature { name: name.to_string(), ..Signature::default() };
    let mut list = Vec::new();
    for unit in &model.units {
        match unit {
            Unit::Proctype(p) => {
                let mut parameters = 0;
                for declaration in &p.params {
                    for variable in &declaration.variables {
                        let (ty, length) = names.typed(declaration, variable)?;
                        parameters += names.cells(&ty, length)?.len();
                    }
                }
                list.push(Signature { parameters, ..signature(&p.name.name) });
            }
            Unit::Init(_) => list.push(signature(":init:")),
            _ => {}
        }
    }
    Ok(list)
}

fn global(
    names: &mut Names,
    declaration: &Declaration,
    initialise: &mut Vec<(usize, Store, Initialise)>,
) -> Result<(), String> {
    let hidden = declaration.visibility == Visibility::Hidden;
    let store = if hidden { Store::Hidden } else { Store::Global };
    for variable in &declaration.variables {
        let (ty, length) = names.typed(declaration, variable)?;
        let name = &variable.name.name;
        if names.find(name).is_some() || names.is_mtype(name) {
            return Err(format!("redeclaration of {name}"));
        }
        let cells = names.cells(&ty, length)?;
        let counter = if hidden { &mut names.hidden_cells } else { &mut names.global_cells };
        let base = *counter;
        *counter += cells.len();
        names.globals.insert(name.clone(), Declared { store, base, ty: ty.clone(), length });
        let fields = names.field_values(&ty, length, base)?;
        initialise.extend(fields.into_iter().map(|i| (class(&declaration.ty), store, i)));
        // A value given to a structure is ignored.
        let Type::Scalar(kind) = ty else { continue };
        let Some(with) = names.initial(variable)? else { continue };
        let value = Initialise { base, kind, length: cells.len(), with };
        initialise.push((class(&declaration.ty), store, value));
    }
    Ok(())
}

fn proctype(
    names: &mut Names,
    index: usize,
    params: &[Declaration],
    body: &Sequence,
    provided: &Option<Expr>,
) -> Result<Proctype, String> {
    names.scopes = vec![HashMap::new()];
    names.locals = HashMap::new();
    names.local_cells = 0;
    let mut parameters = Vec::new();
    for declaration in params {
        for variable in &declaration.variables {
            let (ty, length) = names.typed(declaration, variable)?;
            let (_, cells) = names.declare_local(&variable.name.name, ty, length)?;
            parameters.extend(cells);
        }
    }
    let provided = provided.as_ref().map(|e| names.value(e)).transpose()?;
    names.scopes.push(HashMap::new());
    let Builder { elements, initialise, .. } = Builder::build(names, body)?;
    let labels = elements.labels.iter().cloned().collect();
    let table = table::Table::new(elements)?;
    names.signatures[index].labels = labels;
    names.signatures[index].variables = std::mem::take(&mut names.locals);
    names.scopes = Vec::new();
    Ok(Proctype { table, parameters, cells: names.local_cells, initialise, provided })
}

/// Is this a model that SPIN would verify, as far as its control structure tells?
pub(crate) fn accepts(model: &Model) -> bool {
    load(model).is_ok()
}
