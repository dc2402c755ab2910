//! Schedules as text: `q1:0*3.1.0+2`; after `@` the memory model, unless it is sequential consistency; and after `;` the memory whose
//! plain accesses are steps: `4038+4`.

use std::fmt;
use std::str::FromStr;

use quotient_stateless::Schedule;
use quotient_stateless::graph::MemoryModel;

/// A schedule of a native program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Token {
    /// The choices.
    pub schedule: Schedule,
    /// Memory whose plain accesses are steps, because they race and races are allowed: address and size.
    pub cells: Vec<(u64, u64)>,
    /// The memory model under which alternatives have their meaning.
    pub memory: MemoryModel,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.schedule)?;
        if self.memory != MemoryModel::SequentialConsistency
            && let Some((_, name, _)) = MemoryModel::NAMES.iter().find(|(model, ..)| *model == self.memory)
        {
            write!(f, "@{name}")?;
        }
        for (index, (address, size)) in self.cells.iter().enumerate() {
            write!(f, "{}{address:x}+{size}", if index == 0 { ';' } else { ',' })?;
        }
        Ok(())
    }
}

impl FromStr for Token {
    type Err = String;

    fn from_str(text: &str) -> Result<Token, String> {
        let (schedule, cells) = text.split_once(';').unwrap_or((text, ""));
        let (schedule, memory) = schedule.split_once('@').unwrap_or((schedule, "sc"));
        let memory = MemoryModel::NAMES.iter().find(|(_, name, _)| *name == memory);
        let Some((memory, ..)) = memory else { return Err("`@` is followed by tso or rc11".to_owned()) };
        let schedule = schedule.parse::<Schedule>().map_err(|error| error.to_string())?;
        let cell = |part: &str| {
            let (address, size) = part.split_once('+')?;
            Some((u64::from_str_radix(address, 16).ok()?, size.parse().ok()?))
        };
        let parts = cells.split(',').filter(|part| !part.is_empty());
        let cells = parts.map(|p| cell(p).ok_or_else(|| format!("`{p}` is not an address and a size")));
        Ok(Token { schedule, cells: cells.collect::<Result<_, _>>()?, memory: *memory })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_read_back() {
        for text in ["q1:", "q1:0*3.1.0+2", "q1:0.1;404a10+4,404a18+8", "q1:0.1+1@rc11", "q1:0@tso;404a10+4"]
        {
            assert_eq!(text.parse::<Token>().map(|t| t.to_string()), Ok(text.to_owned()));
        }
        assert!("q1:0;zz".parse::<Token>().is_err());
        assert!("q1:0@pso".parse::<Token>().is_err());
        assert!("0*3".parse::<Token>().is_err());
    }
}
