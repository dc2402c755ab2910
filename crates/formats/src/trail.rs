//! SPIN's trails: a line `depth:process:statement` for each statement, the statement as SPIN numbers it.
//!
//! Lines with a negative depth say something about the rest: `-4:-4:-4` that the verifier has merged statements (only the first of those that it
//! executes together is listed), `-2:N:-2` that claim N runs as process 0 and every other process has a number one higher, `-1:-1:-1` that what
//! follows is repeated for ever, `-5` to `-8` that processes were looked at in a permuted order.

use std::fmt::Write;

/// A statement that is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// The process, counted without claims.
    pub process: u32,
    /// The number of the statement.
    pub statement: u32,
}

/// A trail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trail {
    /// Statements that only their own process notices are left out, if they follow another one.
    pub merged: bool,
    /// A claim was followed; its own statements are not kept.
    pub claim: bool,
    /// What processes do.
    pub lines: Vec<Line>,
    /// How many of the lines come before those that are repeated for ever.
    pub cycle: Option<usize>,
}

/// Reads a trail.
pub fn read(text: &str) -> Result<Trail, String> {
    let mut trail = Trail::default();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = || format!("line {}: not `depth:process:statement`", index + 1);
        let mut numbers = line.trim().split(':').map(str::parse::<i64>);
        let mut number = || numbers.next().and_then(Result::ok).ok_or_else(wrong);
        let (depth, process, statement) = (number()?, number()?, number()?);
        match depth {
            -1 => trail.cycle = Some(trail.lines.len()),
            -2 => trail.claim = true,
            -4 => trail.merged = true,
            -8..=-5 => {
                return Err("the verifier permuted processes (-p_permute, -p_rotate, -p_reverse): only `pan -r` can follow such a trail".to_owned());
            }
            ..0 => return Err(wrong()),
            _ => {
                let process = process - i64::from(trail.claim);
                // The claim's own moves.
                if process < 0 {
                    continue;
                }
                let process = u32::try_from(process).map_err(|_| wrong())?;
                let statement = u32::try_from(statement).map_err(|_| wrong())?;
                trail.lines.push(Line { process, statement });
            }
        }
    }
    Ok(trail)
}

/// Writes a trail without claim, every statement listed.
pub fn write(lines: &[Line], cycle: Option<usize>) -> String {
    let mut text = String::new();
    for (index, line) in lines.iter().enumerate() {
        if cycle == Some(index) {
            text.push_str("-1:-1:-1\n");
        }
        // Writing to a string does not fail.
        _ = writeln!(text, "{}:{}:{}", index + 1, line.process, line.statement);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trails_are_read_as_they_are_written() {
        let lines = [(0, 3), (1, 7), (0, 4)].map(|(process, statement)| Line { process, statement });
        let text = write(&lines, Some(1));
        assert_eq!(text, "1:0:3\n-1:-1:-1\n2:1:7\n3:0:4\n");
        let trail = Trail { lines: lines.to_vec(), cycle: Some(1), ..Trail::default() };
        assert_eq!(read(&text), Ok(trail));
    }

    #[test]
    fn claims_and_merging() {
        let trail = read("-2:1:-2\n-4:-4:-4\n1:0:31\n2:1:3\n").unwrap();
        assert!(trail.merged && trail.claim);
        assert_eq!(trail.lines, [Line { process: 0, statement: 3 }]);
        assert!(read("-5:1:-2\n1:0:31\n").unwrap_err().contains("permuted"));
        assert_eq!(read(""), Ok(Trail::default()));
        for text in ["1:2\n", "x", "1:0:-7\n", "-9:0:1\n"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
