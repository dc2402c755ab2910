//! Violations unfolded backwards as whole runs: induction over several steps.
//!
//! Assume a violation is reachable, and take one with a shortest derivation. The states before it violate nothing. If for some
//! number of rules no run of that length ends in a violation and meets none before, and no shorter one begins with a
//! fact, there is none (Sheeran, Singh and Stålmarck, *Checking safety properties using induction and a SAT solver*). Each run is decided with
//! the disjunctions of all its rules waiting (`decide.rs`), so rules may have any number of alternatives. A run that begins
//! with a fact is a counterexample (what is found, is executed with values); one that does not is what the report shows as the open goal.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use quotient_proof_check::format as out;

use super::decide::Answer;
use super::evidence::{Claim, Missing, Writer, pruned};
use super::flow::Flow;
use super::growth::Plan;
use super::points::{Reached, enter, is_everything};
use super::walk::{Places, Walk};
use super::{Found, Open};
use crate::explicit::TraceStep;
use crate::limits::Limits;
use crate::program::{Assertion, Program};

/// Rules to unfold by, at most: before an invariant is looked for, and after.
const WITHOUT: usize = 3;
const DEEPEST: usize = 24;
/// Time for the former, and for the invariant.
const WITHOUT_TIME: Duration = Duration::from_secs(4);
const GROWTH_TIME: Duration = Duration::from_secs(3);

/// What was found.
pub enum Bounded {
    /// The claim holds.
    Proved(Found),
    /// A run from a fact to a violation.
    Refuted(Vec<TraceStep>),
    /// Neither; the last run that could not be excluded.
    Open(Option<Open>),
}

/// A rule on the way back: the state it led to, and what its nodes are.
#[derive(Clone)]
struct Back {
    rule: usize,
    after: Vec<usize>,
    places: Places,
}

struct Unfolding<'w, 'a> {
    writer: &'w mut Writer<'a>,
    reached: &'w Reached,
    /// Runs found possible, by their rules, last one first, after the control point of the violation.
    possible: HashSet<(usize, Vec<usize>)>,
    /// Evidence for those found impossible.
    closed: HashMap<(usize, Vec<usize>), usize>,
    depth: usize,
    /// What the nodes of the claim are.
    claimed: Places,
}

enum Ended {
    Refuted(Vec<TraceStep>),
    Open(Open),
    /// It took too long, or numbers became too large.
    Early,
}

impl<E: Into<Missing>> From<E> for Ended {
    fn from(_: E) -> Ended {
        Ended::Early
    }
}

/// Looks for a proof by runs of bounded length, or for a run to a violation.
pub fn prove(program: &Program, assertion: &Assertion, limits: &Limits) -> Bounded {
    let Some((bad, good)) = super::violations(assertion, program.width()) else { return Bounded::Open(None) };
    let claim = Claim { bad: &bad, nodes: assertion.nodes, good: good.as_ref() };
    let mut flow = Flow::of(program);
    flow.heads = (0..flow.points.len()).collect();
    let plan = Plan { sums: Vec::new(), keys: Vec::new(), stop: false };
    let mut open = None;
    let everything = Reached::everything(&flow.points);
    // First without an invariant; then with one, if it is found.
    let brief = limits.within(WITHOUT_TIME);
    let mut writer = Writer::new(program, &flow, &plan, claim, &brief);
    match unfold(&mut writer, &everything, WITHOUT, &mut open) {
        Some(Bounded::Open(_)) | None => {}
        Some(done) => return done,
    }
    let growing = limits.within(GROWTH_TIME);
    let reached = Writer::new(program, &flow, &plan, claim, &growing).reached();
    let reached = reached.unwrap_or(everything);
    let mut writer = Writer::new(program, &flow, &plan, claim, limits);
    unfold(&mut writer, &reached, DEEPEST, &mut open).unwrap_or(Bounded::Open(open))
}

/// Unfolds by up to so many rules. None if it took too long.
fn unfold(
    writer: &mut Writer,
    reached: &Reached,
    deepest: usize,
    open: &mut Option<Open>,
) -> Option<Bounded> {
    let mut unfolding = Unfolding {
        writer,
        reached,
        possible: HashSet::new(),
        closed: HashMap::new(),
        depth: 0,
        claimed: Places::default(),
    };
    for depth in 1..=deepest {
        unfolding.depth = depth;
        match unfolding.claims() {
            Ok(claims) => {
                let cells = certified(unfolding.writer, reached, claims).ok()?;
                let plain = cells.cells.iter().all(is_everything);
                let name = if plain { "runs of bounded length" } else { "equalities and bounds, unfolded" };
                return Some(Bounded::Proved(Found { name, cells }));
            }
            Err(Ended::Refuted(trace)) => return Some(Bounded::Refuted(trace)),
            Err(Ended::Open(run)) => *open = Some(run),
            Err(Ended::Early) => return None,
        }
    }
    Some(Bounded::Open(open.clone()))
}

/// The certificate: the cells, and that no violation is the first.
fn certified(writer: &mut Writer, reached: &Reached, claims: Vec<usize>) -> Result<out::Cells, Missing> {
    let flow = writer.flow;
    let cells = reached.list();
    let number = |point: usize| cells.iter().position(|c| c.point == flow.points[point]);
    let mut facts = Vec::new();
    for &(rule, to) in &flow.facts {
        facts.push(writer.kept(None, rule, to, reached, number(to))?);
    }
    let mut steps = Vec::new();
    for cell in &cells {
        let mut list = Vec::new();
        for step in flow.steps.iter().filter(|s| flow.points[s.from] == cell.point) {
            list.push(writer.kept(Some(step.from), step.rule, step.to, reached, number(step.to))?);
        }
        steps.push(writer.add(out::Evidence::Follow(list))?);
    }
    let mut heads = flow.points.clone();
    heads.sort_unstable();
    let (control, evidence) = (flow.column, writer.evidence());
    Ok(pruned(out::Cells { control, heads, cells, evidence, facts, steps, claims }))
}

impl<'a> Unfolding<'_, 'a> {
    /// Evidence against a violation at each control point.
    fn claims(&mut self) -> Result<Vec<usize>, Ended> {
        let flow = self.writer.flow;
        let mut points: Vec<usize> = (0..flow.points.len()).collect();
        points.sort_by_key(|&p| flow.points[p]);
        let mut claims = Vec::new();
        for point in points {
            let mut walk = Walk::new(self.writer.program.width());
            flow.place(&mut walk, point)?;
            walk.require(self.writer.claim.bad, self.writer.claim.nodes)?;
            self.claimed = walk.places.clone();
            claims.push(self.within(walk, point, (point, Vec::new()), &mut Vec::new())?);
        }
        Ok(claims)
    }

    fn back(
        &mut self,
        walk: Walk<'a>,
        point: usize,
        path: (usize, Vec<usize>),
        trail: &mut Vec<Back>,
    ) -> Result<usize, Ended> {
        if let Some(&at) = self.closed.get(&path) {
            return Ok(at);
        }
        let last = trail.len() >= self.depth;
        if last || !self.possible.contains(&path) {
            match self.writer.decide(walk.clone())? {
                Answer::Impossible(at) => {
                    self.closed.insert(path, at);
                    return Ok(at);
                }
                Answer::Possible(values) if last => return Err(Ended::Open(open(&walk, trail, &values))),
                Answer::Possible(_) => {
                    self.possible.insert(path.clone());
                }
            }
        }
        let (flow, program) = (self.writer.flow, self.writer.program);
        let mut into: Vec<(usize, Option<usize>)> =
            flow.facts.iter().filter(|f| f.1 == point).map(|f| (f.0, None)).collect();
        into.extend(flow.steps.iter().filter(|s| s.to == point).map(|s| (s.rule, Some(s.from))));
        into.sort_unstable();
        let mut children = vec![0; into.len()];
        // Facts first: a run that begins there is a counterexample.
        let mut order: Vec<usize> = (0..into.len()).collect();
        order.sort_by_key(|&at| into[at].1.is_some());
        for at in order {
            let (rule, from) = into[at];
            let mut further = path.clone();
            further.1.push(rule);
            let mut next = walk.backwards(&program.rules[rule])?;
            trail.push(Back { rule, after: walk.state.clone(), places: next.places.clone() });
            let child = match from {
                Some(from) => self.earlier(next, from, further, trail),
                None => match self.closed.get(&further) {
                    Some(&at) => Ok(at),
                    None => {
                        // There is no state before a fact: what its variables are says nothing.
                        next.state.clone_from(&walk.state);
                        self.begun(next, further, trail)
                    }
                },
            };
            trail.pop();
            children[at] = child?;
        }
        Ok(self.writer.add(out::Evidence::Before(children))?)
    }

    /// A state before the violation, which violates nothing.
    fn earlier(
        &mut self,
        mut walk: Walk<'a>,
        point: usize,
        path: (usize, Vec<usize>),
        trail: &mut Vec<Back>,
    ) -> Result<usize, Ended> {
        let Some(good) = self.writer.claim.good else { return self.within(walk, point, path, trail) };
        walk.require(good, self.writer.claim.nodes)?;
        let child = self.within(walk, point, path, trail)?;
        Ok(self.writer.add(out::Evidence::Earlier(child))?)
    }

    /// A state is in the cell of its control point.
    fn within(
        &mut self,
        mut walk: Walk<'a>,
        point: usize,
        path: (usize, Vec<usize>),
        trail: &mut Vec<Back>,
    ) -> Result<usize, Ended> {
        let reached = self.reached;
        let mut children = Vec::new();
        if let Some(cell) = reached.cell(point) {
            if is_everything(cell) {
                return self.back(walk, point, path, trail);
            }
            self.writer.flow.place(&mut walk, point)?;
            enter(&mut walk, cell)?;
            children.push(self.back(walk, point, path, trail)?);
        }
        Ok(self.writer.add(out::Evidence::Among(children))?)
    }

    /// A run that begins with a fact.
    fn begun(&mut self, walk: Walk<'a>, path: (usize, Vec<usize>), trail: &[Back]) -> Result<usize, Ended> {
        match self.writer.decide(walk)? {
            Answer::Impossible(at) => {
                self.closed.insert(path, at);
                Ok(at)
            }
            Answer::Possible(values) => Err(self.run(trail, &values)),
        }
    }

    /// The run that the values are, if its rules and the claim agree.
    fn run(&self, trail: &[Back], values: &[i64]) -> Ended {
        let nodes = |places: &Places| -> Vec<i64> { places.iter().map(|&v| values[v]).collect() };
        if !self.writer.claim.bad.holds(&nodes(&self.claimed)) {
            return Ended::Early;
        }
        let mut trace = Vec::new();
        for back in trail.iter().rev() {
            let nodes = nodes(&back.places);
            if !self.writer.program.rules[back.rule].guard.holds(&nodes) {
                return Ended::Early;
            }
            trace.push(TraceStep { rule: back.rule, state: back.after.iter().map(|&v| values[v]).collect() });
        }
        Ended::Refuted(trace)
    }
}

/// A run that does not begin with a fact, first state first.
fn open(walk: &Walk, trail: &[Back], values: &[i64]) -> Open {
    let of = |state: &[usize]| state.iter().map(|&v| Some(values[v])).collect();
    let mut states = vec![(None, of(&walk.state))];
    states.extend(trail.iter().rev().map(|b| (Some(b.rule), of(&b.after))));
    Open { states, invariant: None }
}
