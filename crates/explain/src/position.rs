//! A position in a run: which steps led there, in a short printable form.
//!
//! A step is told by the thread that makes it and, where that thread has several ways, by the way's number: `q1:0*3.1.0+2` are three
//! steps of thread 0, one of thread 1, one of thread 0 in its third way, as in the schedules of C programs. The steps are those of the
//! program as written, so a position means the same whatever reductions found it. Behind `@` stands the beginning of the checksum of
//! the model's text.

use std::fmt;
use std::str::FromStr;

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Move {
    /// The thread that makes it.
    pub thread: u32,
    /// Which of the thread's ways, in the order of the machine's successors.
    pub way: u32,
}

/// Steps from the initial state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Position {
    /// The steps, first one first.
    pub moves: Vec<Move>,
    /// The beginning of the checksum of the model's text.
    pub checksum: Option<String>,
}

/// The most steps that are read, so that a text cannot exhaust memory.
pub const MOST_MOVES: usize = 1_000_000;

/// A text that is not a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PositionError {
    /// The part that could not be read.
    pub part: String,
}

impl fmt::Display for PositionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not part of a position; expected `q1:` and then like `0*3.1.0+2`", self.part)
    }
}

impl std::error::Error for PositionError {}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("q1:")?;
        for (index, run) in self.moves.chunk_by(|a, b| a == b).enumerate() {
            let separator = if index == 0 { "" } else { "." };
            write!(f, "{separator}{}", run[0].thread)?;
            if run[0].way != 0 {
                write!(f, "+{}", run[0].way)?;
            }
            if run.len() > 1 {
                write!(f, "*{}", run.len())?;
            }
        }
        match &self.checksum {
            Some(checksum) => write!(f, "@{checksum}"),
            None => Ok(()),
        }
    }
}

impl FromStr for Position {
    type Err = PositionError;

    fn from_str(text: &str) -> Result<Position, PositionError> {
        let error = |part: &str| PositionError { part: part.chars().take(40).collect() };
        let body = text.strip_prefix("q1:").ok_or_else(|| error(text))?;
        let (body, checksum) = match body.split_once('@') {
            Some((body, checksum))
                if checksum.len() <= 16 && checksum.bytes().all(|b| b.is_ascii_hexdigit()) =>
            {
                (body, Some(checksum.to_owned()))
            }
            Some((_, checksum)) => return Err(error(checksum)),
            None => (body, None),
        };
        let mut moves = Vec::new();
        for part in body.split('.').filter(|_| !body.is_empty()) {
            let (step, count) = part.split_once('*').unwrap_or((part, "1"));
            let (thread, way) = step.split_once('+').unwrap_or((step, "0"));
            let number = |digits: &str| match digits.bytes().all(|b| b.is_ascii_digit()) {
                true => digits.parse::<u32>().map_err(|_| error(part)),
                false => Err(error(part)),
            };
            let (thread, way, count) = (number(thread)?, number(way)?, number(count)? as usize);
            if count == 0 || count > MOST_MOVES - moves.len() {
                return Err(error(part));
            }
            moves.resize(moves.len() + count, Move { thread, way });
        }
        Ok(Position { moves, checksum })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_come_back_from_their_text() {
        for text in ["q1:", "q1:0", "q1:0*3.1.0+2", "q1:12+3*4@0123abcd", "q1:@ff"] {
            assert_eq!(text.parse::<Position>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_not_a_position_is_told_by_its_part() {
        for (text, part) in [
            ("0.1", "0.1"),
            ("q1:0..1", ""),
            ("q1:0*0", "0*0"),
            ("q1:x", "x"),
            ("q1:+1", "+1"),
            ("q1:-1", "-1"),
            ("q1:0*1000001", "0*1000001"),
            ("q1:0@xyz", "xyz"),
        ] {
            assert_eq!(text.parse::<Position>().unwrap_err().part, part, "{text}");
        }
    }
}
