//! Processes: states and transitions.

use quotient_formula::{Parse, Reported};
use quotient_source::Span;

use super::Parser;
use crate::ast::{Effect, Expr, Name, Process, Sync, Transition};

/// The words that start a part of a process.
const PARTS: &[&str] = &["state", "init", "accept", "commit", "assert", "trans"];

impl Parser<'_> {
    pub(super) fn process(&mut self) -> Parse<Process> {
        let start = self.bump().span;
        let name = self.name("the name of a process")?;
        let span = start.to(name.span);
        self.expect("{", "the body of a process is written in braces")?;
        let mut process = Process {
            name,
            variables: Vec::new(),
            states: Vec::new(),
            init: None,
            accept: Vec::new(),
            commit: Vec::new(),
            asserts: Vec::new(),
            transitions: Vec::new(),
            span,
        };
        let mut seen: Vec<(&str, Span)> = Vec::new();
        while !self.is("}") && !self.at_end() && !self.is("process") && !self.is("system") {
            if self.diagnostics.error_count() >= super::MAX_ERRORS {
                return Err(Reported);
            }
            if self.part(&mut process, &mut seen).is_err() {
                let words = [PARTS, &["}", "process", "system"]].concat();
                self.skip(&words);
            }
        }
        self.expect("}", "close the process with `}`")?;
        Ok(process)
    }

    fn part(&mut self, process: &mut Process, seen: &mut Vec<(&'static str, Span)>) -> Parse<()> {
        if self.at_type() {
            let late = !seen.is_empty();
            let span = self.span();
            self.variables(&mut process.variables)?;
            if late {
                return Err(self.error(
                    span,
                    "variables are declared before the states".into(),
                    "move it to the beginning of the process",
                ));
            }
            return Ok(());
        }
        let Some(part) = PARTS.iter().find(|p| self.is(p)) else {
            return Err(
                self.unexpected("a variable, `state`, `init`, `accept`, `commit`, `assert` or `trans`", "")
            );
        };
        let span = self.bump().span;
        if seen.iter().any(|(p, _)| p == part) {
            return Err(self.error(
                span,
                format!("a second `{part}` in this process"),
                "put everything into one list, with commas",
            ));
        }
        seen.push((part, span));
        match *part {
            "state" => process.states = self.names("the name of a state")?,
            "init" => {
                process.init = Some(self.name("the name of a state")?);
                self.expect(";", "a process has one initial state")?;
            }
            "accept" => {
                for kind in ["genbuchi", "muller", "rabin", "streett"] {
                    if self.is(kind) {
                        let message = format!("acceptance of kind `{kind}` is not supported");
                        let span = self.span();
                        return Err(self.error(span, message, "use a Büchi automaton: `accept s;`"));
                    }
                }
                self.eat("buchi");
                process.accept = self.names("the name of a state")?;
            }
            "commit" => process.commit = self.names("the name of a state")?,
            "assert" => self.asserts(process)?,
            _ => self.transitions(process)?,
        }
        Ok(())
    }

    /// `assert s: e, …;`
    fn asserts(&mut self, process: &mut Process) -> Parse<()> {
        loop {
            let state = self.name("the name of a state")?;
            self.expect(":", "an assertion is written `assert state: expression;`")?;
            process.asserts.push((state, self.expression()?));
            if !self.eat(",") {
                break;
            }
        }
        self.expect(";", "")?;
        Ok(())
    }

    fn transitions(&mut self, process: &mut Process) -> Parse<()> {
        let mut from: Option<Name> = None;
        loop {
            let start = self.at;
            match self.transition(&mut from) {
                Ok(transition) => process.transitions.push(transition),
                Err(Reported) => self.skip_transition(start),
            }
            if self.diagnostics.error_count() >= super::MAX_ERRORS {
                return Err(Reported);
            }
            if !self.eat(",") {
                break;
            }
        }
        self.expect(";", "transitions are separated by `,`; the last one is followed by `;`")?;
        Ok(())
    }

    /// Skips to what follows a transition, which started at this token.
    fn skip_transition(&mut self, start: usize) {
        let opened = self.since(start).iter().filter(|t| t.is("{")).count();
        let closed = self.since(start).iter().filter(|t| t.is("}")).count();
        let mut open = opened.saturating_sub(closed);
        while !self.at_end() && !self.is("process") && !self.is("system") {
            if open == 0 && (self.is(",") || self.is(";") || self.is("}")) {
                return;
            }
            if self.is("{") {
                open += 1;
            } else if self.is("}") {
                open -= 1;
            }
            self.bump();
        }
    }

    /// `a -> b { guard e; sync c!e; effect x = e, …; }`; without `a`, from where the one before started.
    fn transition(&mut self, from: &mut Option<Name>) -> Parse<Transition> {
        let start = self.span();
        if !self.is("->") {
            *from = Some(self.name("the name of a state")?);
            if self.is("=>") {
                let span = self.span();
                return Err(self.error(
                    span,
                    "probabilistic transitions are not supported".into(),
                    "write `a -> b { … }` for each of them",
                ));
            }
        }
        self.expect("->", "a transition is written `a -> b { … }`")?;
        let Some(from) = from.clone() else {
            return Err(self.error(
                start,
                "the first transition has no state".into(),
                "write `a -> b { … }`",
            ));
        };
        let to = self.name("the name of a state")?;
        self.expect("{", "a transition is written `a -> b { … }`")?;
        let mut guard = None;
        if self.eat("guard") {
            guard = Some(self.expression()?);
            self.expect(";", "the guard ends with `;`")?;
        }
        let mut sync = None;
        if self.eat("sync") {
            sync = Some(self.sync()?);
            self.expect(";", "the synchronisation ends with `;`")?;
        }
        let mut effects = Vec::new();
        if self.eat("effect") {
            effects.push(self.effect()?);
            while self.eat(",") {
                effects.push(self.effect()?);
            }
            self.expect(";", "effects are separated by `,`; the last one is followed by `;`")?;
        }
        if !self.is("}") {
            return Err(self.unexpected("`}`", "the order is `guard`, `sync`, `effect`, each of them once"));
        }
        let span = start.to(self.bump().span);
        Ok(Transition { from, to, guard, sync, effects, span })
    }

    fn sync(&mut self) -> Parse<Sync> {
        let channel = self.name("the name of a channel")?;
        let send = self.is("!");
        if !send && !self.is("?") {
            return Err(self.unexpected("`!` or `?`", "write `c!value` to send and `c?variable` to receive"));
        }
        let mut span = channel.span.to(self.bump().span);
        let mut values = Vec::new();
        if self.is("{") {
            values = self.braced_list()?;
        } else if !self.is(";") {
            values.push(self.expression()?);
        }
        if let Some(last) = values.last() {
            span = span.to(last.span);
        }
        Ok(Sync { channel, send, values, span })
    }

    fn effect(&mut self) -> Parse<Effect> {
        let target: Expr = self.expression()?;
        self.expect("=", "an effect is written `variable = value`")?;
        let value = self.expression()?;
        Ok(Effect { target, value })
    }
}
