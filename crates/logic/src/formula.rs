//! Formulas of CTL*; those without path quantifiers are the formulas of LTL.

use std::fmt;

/// A formula over propositions that are only numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Formula {
    /// Always true.
    True,
    /// Never true.
    False,
    /// The proposition with this number.
    Prop(u32),
    /// Not.
    Not(Box<Formula>),
    /// And.
    And(Box<Formula>, Box<Formula>),
    /// Or.
    Or(Box<Formula>, Box<Formula>),
    /// In the next state.
    Next(Box<Formula>),
    /// The second holds at some time, and the first until then.
    Until(Box<Formula>, Box<Formula>),
    /// The second holds up to and including the time when the first holds; for ever if that is never.
    Release(Box<Formula>, Box<Formula>),
    /// On some path from here.
    Exists(Box<Formula>),
    /// On every path from here.
    All(Box<Formula>),
}

impl Formula {
    /// The proposition with this number.
    pub fn prop(number: u32) -> Formula {
        Formula::Prop(number)
    }

    /// Not this; double negations vanish.
    pub fn negated(self) -> Formula {
        match self {
            Formula::True => Formula::False,
            Formula::False => Formula::True,
            Formula::Not(inner) => *inner,
            other => Formula::Not(Box::new(other)),
        }
    }

    /// This and `other`.
    pub fn and(self, other: Formula) -> Formula {
        Formula::And(Box::new(self), Box::new(other))
    }

    /// This or `other`.
    pub fn or(self, other: Formula) -> Formula {
        Formula::Or(Box::new(self), Box::new(other))
    }

    /// If this, then `other`.
    pub fn implies(self, other: Formula) -> Formula {
        self.negated().or(other)
    }

    /// Both or neither.
    pub fn equivalent(self, other: Formula) -> Formula {
        let (a, b) = (self.clone(), other.clone());
        a.and(b).or(self.negated().and(other.negated()))
    }

    /// In the next state.
    pub fn next(self) -> Formula {
        Formula::Next(Box::new(self))
    }

    /// Until `other`.
    pub fn until(self, other: Formula) -> Formula {
        Formula::Until(Box::new(self), Box::new(other))
    }

    /// This releases `other`.
    pub fn release(self, other: Formula) -> Formula {
        Formula::Release(Box::new(self), Box::new(other))
    }

    /// Until `other`, which need not come: `other` releases "this or `other`".
    pub fn weak_until(self, other: Formula) -> Formula {
        other.clone().release(self.or(other))
    }

    /// At some time.
    pub fn eventually(self) -> Formula {
        Formula::True.until(self)
    }

    /// At all times.
    pub fn always(self) -> Formula {
        Formula::False.release(self)
    }

    /// One more than the greatest proposition.
    pub fn propositions(&self) -> u32 {
        match self {
            Formula::True | Formula::False => 0,
            Formula::Prop(p) => p + 1,
            _ => self.children().iter().map(|f| f.propositions()).max().unwrap_or(0),
        }
    }

    /// The direct parts.
    pub fn children(&self) -> Vec<&Formula> {
        match self {
            Formula::True | Formula::False | Formula::Prop(_) => Vec::new(),
            Formula::Not(a) | Formula::Next(a) | Formula::Exists(a) | Formula::All(a) => vec![a],
            Formula::And(a, b) | Formula::Or(a, b) | Formula::Until(a, b) | Formula::Release(a, b) => {
                vec![a, b]
            }
        }
    }

    /// No path quantifiers: a formula of LTL.
    pub fn is_linear(&self) -> bool {
        !matches!(self, Formula::Exists(_) | Formula::All(_)) && self.children().iter().all(|f| f.is_linear())
    }

    /// Is `X` used? A formula without it cannot tell a word from one that stays longer in its letters.
    pub fn uses_next(&self) -> bool {
        matches!(self, Formula::Next(_)) || self.children().iter().any(|f| f.uses_next())
    }

    /// Neither temporal operators nor path quantifiers.
    pub fn is_propositional(&self) -> bool {
        match self {
            Formula::Next(_)
            | Formula::Until(..)
            | Formula::Release(..)
            | Formula::Exists(_)
            | Formula::All(_) => false,
            _ => self.children().iter().all(|f| f.is_propositional()),
        }
    }

    /// The formula with its largest parts that are propositional replaced.
    pub fn over<'a>(&'a self, replace: &mut dyn FnMut(&'a Formula) -> Formula) -> Formula {
        if self.is_propositional() {
            return replace(self);
        }
        let mut part = |f: &'a Formula| Box::new(f.over(&mut *replace));
        match self {
            Formula::Not(a) => Formula::Not(part(a)),
            Formula::And(a, b) => Formula::And(part(a), part(b)),
            Formula::Or(a, b) => Formula::Or(part(a), part(b)),
            Formula::Next(a) => Formula::Next(part(a)),
            Formula::Until(a, b) => Formula::Until(part(a), part(b)),
            Formula::Release(a, b) => Formula::Release(part(a), part(b)),
            Formula::Exists(a) => Formula::Exists(part(a)),
            Formula::All(a) => Formula::All(part(a)),
            Formula::True | Formula::False | Formula::Prop(_) => self.clone(),
        }
    }

    /// The value of a formula without temporal operators where the propositions in `letter` hold. Temporal parts count as
    /// false.
    pub fn holds_at(&self, letter: u64) -> bool {
        match self {
            Formula::True => true,
            Formula::Prop(p) => *p < 64 && letter >> p & 1 == 1,
            Formula::Not(a) => !a.holds_at(letter),
            Formula::And(a, b) => a.holds_at(letter) && b.holds_at(letter),
            Formula::Or(a, b) => a.holds_at(letter) || b.holds_at(letter),
            _ => false,
        }
    }
}

impl Formula {
    /// The formula in SPIN's notation, with these names of the propositions; every binary operator in parentheses.
    pub fn with_names(&self, names: &[String]) -> String {
        let part = |f: &Formula| f.with_names(names);
        match self {
            Formula::True => "true".into(),
            Formula::False => "false".into(),
            Formula::Prop(p) => names.get(*p as usize).cloned().unwrap_or_else(|| format!("p{p}")),
            Formula::Not(a) => format!("!{}", part(a)),
            Formula::And(a, b) => format!("({} && {})", part(a), part(b)),
            Formula::Or(a, b) => format!("({} || {})", part(a), part(b)),
            Formula::Next(a) => format!("X {}", part(a)),
            Formula::Until(a, b) if **a == Formula::True => format!("<>{}", part(b)),
            Formula::Release(a, b) if **a == Formula::False => format!("[]{}", part(b)),
            Formula::Until(a, b) => format!("({} U {})", part(a), part(b)),
            Formula::Release(a, b) => format!("({} V {})", part(a), part(b)),
            Formula::Exists(a) => format!("E {}", part(a)),
            Formula::All(a) => format!("A {}", part(a)),
        }
    }
}

/// In SPIN's notation, with propositions `p0`, `p1`, …; every binary operator in parentheses.
impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.with_names(&[]))
    }
}
