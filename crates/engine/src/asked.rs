//! What a check asks, in which order, and what it leaves out.

use std::collections::BTreeSet;

use quotient_program as ir;
use quotient_source::{Span, Unchecked};

use crate::question::{self, Question};
use crate::{Check, CheckError, Model};

/// A question made ready.
pub(crate) struct Asked<'a> {
    pub(crate) question: Question,
    pub(crate) how: How<'a>,
}

/// How a question is answered.
pub(crate) enum How<'a> {
    /// By labelling the state graph with this formula.
    Branching(&'a quotient_logic::Formula),
    /// By a search with this claim.
    Claim(Box<ir::Claim>),
}

impl Model {
    /// The claim that watches for a question; `None` for safety and formulas of branching time.
    pub(crate) fn claim_for(&self, question: Question) -> Result<Option<ir::Claim>, CheckError> {
        let span = self.program.functions.first().map(|f| f.span);
        match (question, span) {
            (Question::Claim(number), _) => match self.claims.get(number) {
                Some(claim) => question::claim(&self.program, claim).map_err(CheckError::Refused),
                None => Err(CheckError::Refused(format!("the model has no claim number {number}"))),
            },
            (Question::Acceptance, Some(span)) => Ok(Some(question::acceptance(span))),
            (Question::Progress, Some(span)) => Ok(Some(question::non_progress(span))),
            (Question::Safety, _) | (_, None) => Ok(None),
        }
    }

    /// A question in words.
    pub fn question_text(&self, question: Question) -> String {
        match question {
            Question::Safety => "safety".into(),
            Question::Acceptance => "no acceptance cycle".into(),
            Question::Progress => "no non-progress cycle".into(),
            Question::Claim(number) => self.claims.get(number).map_or_else(String::new, |c| {
                let name = if c.name.is_empty() || c.keyword == "never" { "" } else { c.name.as_str() };
                let spaced = [c.keyword, name, c.text.as_str()].join(" ");
                spaced.split_whitespace().collect::<Vec<_>>().join(" ")
            }),
        }
    }

    /// What is asked, safety last.
    pub fn questions(&self, check: &Check<'_>) -> Result<Vec<Question>, CheckError> {
        let wanted =
            |c: &quotient_front_end::Claim| check.claim.is_none_or(|name| c.name == name && !name.is_empty());
        let own = self.claims[..self.own_claims].iter().enumerate().filter(|(_, c)| wanted(c));
        let mut questions: Vec<Question> = own.map(|(number, _)| Question::Claim(number)).collect();
        if let (Some(name), true) = (check.claim, questions.is_empty()) {
            let names = self.claims.iter().map(|c| c.name.as_str()).filter(|n| !n.is_empty());
            let names: Vec<&str> = names.collect();
            let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(CheckError::Refused(format!("there is no claim `{name}`; named claims: {known}")));
        }
        if check.safety_only {
            questions.clear();
        }
        questions.extend((self.own_claims..self.claims.len()).map(Question::Claim));
        questions.extend(check.acceptance.then_some(Question::Acceptance));
        questions.extend(check.progress.then_some(Question::Progress));
        questions.push(Question::Safety);
        Ok(questions)
    }

    /// Makes the questions ready, all of them before any search begins: what cannot be asked is refused whatever the
    /// other questions lead to.
    pub(crate) fn prepared(
        &self,
        questions: &[Question],
        check: &Check<'_>,
    ) -> Result<Vec<Asked<'_>>, CheckError> {
        let mut asked = Vec::new();
        for &question in questions {
            let how = match self.branching_formula(question) {
                Some(formula) => {
                    self.refuse_branching(question, formula, check)?;
                    How::Branching(formula)
                }
                None => match self.claim_for(question)? {
                    Some(claim) => How::Claim(Box::new(claim)),
                    None => continue,
                },
            };
            if self.program.features.dynamic && matches!(&how, How::Claim(c) if !c.function.locals.is_empty())
            {
                return Err(CheckError::Refused(
                    "a never claim with variables of its own about a model with objects or functions is not supported; --safety leaves it out"
                        .into(),
                ));
            }
            asked.push(Asked { question, how });
        }
        Ok(asked)
    }

    /// What is asked and looked for in another way than by a search for reachable states: `--search` and `--max-depth` mean
    /// something else there.
    pub fn searched_otherwise(&self, check: &Check<'_>) -> Result<Vec<Question>, CheckError> {
        let questions = self.questions(check)?;
        let asked = self.prepared(&questions, check)?.into_iter();
        let otherwise = asked.filter(|a| match &a.how {
            How::Branching(_) => true,
            How::Claim(claim) => claim.cycles,
        });
        Ok(otherwise.map(|a| a.question).collect())
    }

    /// Is it a formula of branching time?
    pub fn is_branching(&self, question: Question) -> bool {
        self.branching_formula(question).is_some()
    }

    /// What the model has and this check does not ask about, or nobody checks.
    pub(crate) fn left_out(&self, check: &Check<'_>) -> Vec<String> {
        let mut left_out = Vec::new();
        if !check.deadlocks {
            left_out.push("deadlocks (--no-deadlock)".to_owned());
        }
        let questions = self.questions(check).unwrap_or_default();
        for number in (0..self.own_claims).map(Question::Claim).filter(|q| !questions.contains(q)) {
            let option = if check.safety_only { "--safety" } else { "--claim" };
            left_out.push(format!("{} ({option})", self.question_text(number)));
        }
        let claims = self.warnings.iter().any(|w| w.unchecked == Some(Unchecked::ExclusiveUse));
        if let Some(option) = self.shared_channels.filter(|_| self.program.exclusive.is_some() || claims) {
            left_out.push(format!("exclusive use of channels (xr, xs) ({option})"));
        }
        left_out.extend(self.labelled(check));
        left_out.extend(self.stated(check));
        left_out
    }

    /// Cycles that labels of the model speak of, where this check does not ask for them. As with SPIN they are looked for on request
    /// only; unlike with SPIN, accept labels of processes do not count for claims.
    fn labelled(&self, check: &Check<'_>) -> Vec<String> {
        let carries = |label: fn(&ir::Location) -> bool| {
            self.program.functions.iter().flat_map(|f| &f.locations).any(label)
        };
        let mut cycles = Vec::new();
        if !check.acceptance && carries(|l| l.accept) {
            cycles.push(
                "acceptance cycles of the model's accept labels (--acceptance asks for them)".to_owned(),
            );
        }
        if !check.progress && carries(|l| l.progress) {
            cycles.push(
                "non-progress cycles of the model's progress labels (--progress asks for them)".to_owned(),
            );
        }
        cycles
    }

    /// What the model states and nobody checks. What is said of a claim counts where the claim is asked.
    pub(crate) fn stated(&self, check: &Check<'_>) -> BTreeSet<String> {
        let asked = self.questions(check).unwrap_or_default();
        let counts = |span: Option<Span>| {
            let claim = self.claims.iter().position(|c| Some(c.span) == span);
            claim.is_none_or(|number| asked.contains(&Question::Claim(number)))
        };
        let warnings = self.warnings.iter().filter(|w| counts(w.span));
        let unchecked = warnings.filter(|w| match w.unchecked {
            Some(Unchecked::ExclusiveUse) => self.shared_channels.is_none(),
            Some(Unchecked::Determinism) => true,
            None => false,
        });
        unchecked.map(|w| w.label.clone()).collect()
    }
}
