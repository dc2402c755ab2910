//! A line for a shell, cut into commands and words: quotes, backslashes, comments, `;`, `&&`, `|`. Redirections are left out, variables and
//! substitutions refused: what they stand for is known to the shell alone.

/// The commands of a line.
pub(super) fn commands(line: &str) -> Result<Vec<Vec<String>>, String> {
    let mut all = Vec::new();
    let mut command: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = line.chars().peekable();
    while let Some(letter) = rest.next() {
        match letter {
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next() {
                        None => return Err(format!("the quote {letter} is not closed")),
                        Some(end) if end == letter => break,
                        Some('\\') if letter == '"' => word.extend(rest.next()),
                        Some(inside) => word.push(inside),
                    }
                }
            }
            '\\' => match rest.next() {
                // A line that goes on.
                Some('\n') | None => {}
                Some(next) => word.get_or_insert_default().push(next),
            },
            '$' | '`' => {
                return Err(format!(
                    "`{letter}` stands for something that only the shell knows; write it out"
                ));
            }
            // Formulas without quotes: a shell would not give them to SPIN either.
            '(' | ')' => {
                return Err(format!("`{letter}` means something to the shell; put formulas into quotes"));
            }
            '#' if word.is_none() => while rest.next_if(|&c| c != '\n').is_some() {},
            '>' | '<' => {
                // The number before it and the file after it belong to the redirection.
                word.take_if(|w| w.chars().all(|c| c.is_ascii_digit()));
                command.extend(word.take());
                while rest.next_if(|&c| matches!(c, '>' | '<' | '&' | ' ' | '\t')).is_some() {}
                while rest.next_if(|&c| !c.is_whitespace() && !matches!(c, ';' | '&' | '|')).is_some() {}
            }
            ';' | '&' | '|' | '\n' => {
                command.extend(word.take());
                all.push(std::mem::take(&mut command));
            }
            blank if blank.is_whitespace() => command.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    command.extend(word);
    all.push(command);
    all.retain(|command| !command.is_empty());
    Ok(all)
}

/// A word as a shell reads it back.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_as_a_shell_does() {
        let cut = |line| commands(line).expect("a line");
        assert_eq!(
            cut("spin -a m.pml && gcc -o pan pan.c; ./pan -a"),
            [vec!["spin", "-a", "m.pml"], vec!["gcc", "-o", "pan", "pan.c"], vec!["./pan", "-a"]]
        );
        assert_eq!(cut("spin -f '![] (p && q)' \"a b.pml\""), [["spin", "-f", "![] (p && q)", "a b.pml"]]);
        assert_eq!(cut("./pan -m1 > out.txt 2>&1 | tail"), [vec!["./pan", "-m1"], vec!["tail"]]);
        assert_eq!(cut("spin -a \\\n m.pml # made\n./pan"), [vec!["spin", "-a", "m.pml"], vec!["./pan"]]);
        assert!(commands("spin -a $MODEL").is_err());
        assert!(commands("spin 'm.pml").is_err());
        assert!(commands("spin -a -f !([]<>p) m.pml").is_err());
    }

    #[test]
    fn words_are_quoted_where_needed() {
        assert_eq!(quoted("m.pml"), "m.pml");
        assert_eq!(quoted("[]<> p"), "'[]<> p'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
