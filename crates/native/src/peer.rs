//! A peer that a checked program connects to: a script of what it answers to what.
//!
//! This file is compiled into both sides, as the protocol is. The checker reads the script and says what is wrong with it; the runtime
//! inside the checked program reads it again and plays the peer. A script has lines:
//!
//! ```text
//! # what follows is the peer at this port of the loopback interface
//! port 80
//! # when this has come since the last answer (`on connect`: at once) …
//! on "HEAD "
//! # … this is answered; several of these are one answer
//! send "HTTP/1.1 200 OK\r\n"
//! # … and the connection is closed
//! close
//! ```
//!
//! The first rule that fits is taken. Every connection is served by itself.

/// A script cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong.
    pub what: &'static str,
}

/// What is answered to what.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Rule {
    /// The port.
    pub port: u16,
    /// What must have come; empty: at once.
    pub expected: Vec<u8>,
    /// The answer.
    pub answer: Vec<u8>,
    /// Is the connection closed then?
    pub closes: bool,
}

/// Reads a script.
///
/// # Errors
/// If a line is not one.
pub fn rules(script: &[u8]) -> Result<Vec<Rule>, ScriptError> {
    let mut rules: Vec<Rule> = Vec::new();
    let mut port = None;
    let mut open = false;
    for (index, line) in script.split(|byte| *byte == b'\n').enumerate() {
        let wrong = |what| ScriptError { line: index + 1, what };
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
        let (word, rest) = (&line[..end], line[end..].trim_ascii_start());
        match word {
            b"port" => {
                let number = core::str::from_utf8(rest).ok().and_then(|text| text.parse().ok());
                port = Some(number.ok_or(wrong("expected a port from 0 to 65535"))?);
                open = false;
            }
            b"on" => {
                let port = port.ok_or(wrong("expected `port` before the first rule"))?;
                let expected = if rest == b"connect" { Vec::new() } else { text(rest).map_err(wrong)? };
                rules.push(Rule { port, expected, ..Rule::default() });
                open = true;
            }
            b"send" | b"close" => {
                let rule =
                    rules.last_mut().filter(|_| open).ok_or(wrong("expected `on` before an answer"))?;
                if rule.closes {
                    return Err(wrong("nothing follows `close`"));
                }
                if word == b"send" {
                    rule.answer.extend(text(rest).map_err(wrong)?);
                } else {
                    rule.closes = true;
                }
            }
            _ => return Err(wrong("expected `port`, `on`, `send` or `close`")),
        }
    }
    Ok(rules)
}

/// A quoted text with the escapes of C.
fn text(quoted: &[u8]) -> Result<Vec<u8>, &'static str> {
    const NOT_A_TEXT: &str = "expected a text in double quotes";
    let inside = quoted.strip_prefix(b"\"").and_then(|t| t.strip_suffix(b"\"")).ok_or(NOT_A_TEXT)?;
    let mut out = Vec::new();
    let mut bytes = inside.iter().copied();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'"' => return Err(NOT_A_TEXT),
            b'\\' => match bytes.next() {
                Some(b'n') => b'\n',
                Some(b'r') => b'\r',
                Some(b't') => b'\t',
                Some(b'0') => 0,
                Some(same @ (b'\\' | b'"')) => same,
                _ => return Err("unknown escape; there are \\n, \\r, \\t, \\0, \\\\ and \\\""),
            },
            byte => byte,
        });
    }
    Ok(out)
}

/// What a peer has received on a connection since its last answer.
#[derive(Clone, Debug, Default)]
pub struct Conversation {
    /// The port.
    pub port: u16,
    received: Vec<u8>,
    closed: bool,
}

impl Conversation {
    /// With the peer at this port, if there is one: what it says at once, and the conversation.
    pub fn begin(rules: &[Rule], port: u16) -> Option<(Vec<u8>, bool, Conversation)> {
        rules.iter().find(|rule| rule.port == port)?;
        let mut conversation = Conversation { port, ..Conversation::default() };
        let first = rules.iter().find(|rule| rule.port == port && rule.expected.is_empty());
        let (answer, closes) = first.map_or((Vec::new(), false), |rule| (rule.answer.clone(), rule.closes));
        conversation.closed = closes;
        Some((answer, closes, conversation))
    }

    /// Something comes: what is answered, and whether the connection is closed then.
    pub fn hear(&mut self, rules: &[Rule], bytes: &[u8]) -> Option<(Vec<u8>, bool)> {
        if self.closed {
            return None;
        }
        self.received.extend_from_slice(bytes);
        let has_come = |text: &[u8]| self.received.windows(text.len()).any(|window| window == text);
        let fits =
            |rule: &&Rule| rule.port == self.port && !rule.expected.is_empty() && has_come(&rule.expected);
        let rule = rules.iter().find(fits)?;
        self.received.clear();
        self.closed = rule.closes;
        Some((rule.answer.clone(), rule.closes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rule_that_fits_answers() {
        let script = b"# a web server\nport 80\non connect\n send \"hi\\r\\n\"\non \"GET /a\"\nsend \"one \"\nsend \"\\\"two\\\"\"\n\
            on \"GET\"\nsend \"none\"\nclose\nport 81\non \"x\"\nclose\n";
        let rules = rules(script).expect("a script");
        assert_eq!(rules.len(), 4);
        let (first, closes, mut talk) = Conversation::begin(&rules, 80).expect("a peer");
        assert_eq!((first.as_slice(), closes), (b"hi\r\n".as_slice(), false));
        // A request may come in pieces.
        assert_eq!(talk.hear(&rules, b"GET "), Some((b"none".to_vec(), true)));
        assert_eq!(talk.hear(&rules, b"GET /a"), None, "it is closed");
        let (.., mut talk) = Conversation::begin(&rules, 80).expect("a peer");
        assert_eq!(talk.hear(&rules, b"POST"), None);
        assert_eq!(talk.hear(&rules, b" GET /a"), Some((b"one \"two\"".to_vec(), false)));
        assert!(Conversation::begin(&rules, 82).is_none());
    }

    #[test]
    fn what_is_wrong_has_a_line() {
        for (script, line) in [
            ("on \"x\"", 1),
            ("port 80\nsend \"x\"", 2),
            ("port 99999", 1),
            ("port 80\non x", 2),
            ("port 80\non \"x\"\nsend \"\\q\"", 3),
            ("port 80\non \"x\"\nclose\nsend \"y\"", 4),
            ("port 80\nhang", 2),
        ] {
            assert_eq!(rules(script.as_bytes()).map_err(|error| error.line), Err(line), "{script}");
        }
    }
}
