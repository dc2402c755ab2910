//! Who may ask: the page that this server gave out, on this machine, in the browser tab that was opened with the token.
//!
//! A token alone is not enough (other pages could guess where a server listens and make a browser send requests), nor is the loopback
//! (any user of the machine can connect). So every request must name this server in `Host` and, if it has one, in `Origin`, which
//! stops pages of other sites even if their name was made to lead here; and everything but the page's own files needs the
//! token, as a header, which forms and images of other sites cannot send.

use std::fmt::Write;

/// A token of 128 bits, in hexadecimal.
#[derive(Clone, Debug)]
pub struct Token(String);

impl Token {
    /// A new one, from the system's random numbers.
    pub fn new() -> std::io::Result<Token> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|e| std::io::Error::other(e.to_string()))?;
        let mut text = String::new();
        for byte in bytes {
            let _ = write!(text, "{byte:02x}");
        }
        Ok(Token(text))
    }

    /// The token as text.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Compares in a time that does not depend on where two texts differ.
    fn is(&self, given: &str) -> bool {
        let (own, given) = (self.0.as_bytes(), given.as_bytes());
        if own.len() != given.len() {
            return false;
        }
        own.iter().zip(given).fold(0, |different, (a, b)| different | (a ^ b)) == 0
    }
}

/// What of a request decides whether it is answered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked<'a> {
    /// The header `Host`.
    pub host: Option<&'a str>,
    /// The header `Origin`.
    pub origin: Option<&'a str>,
    /// The header `X-Quotient-Token`.
    pub token: Option<&'a str>,
}

/// Decides who is answered.
#[derive(Clone, Debug)]
pub struct Guard {
    token: Token,
    hosts: [String; 2],
}

impl Guard {
    /// For a server at this port.
    pub fn new(token: Token, port: u16) -> Guard {
        Guard { token, hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")] }
    }

    /// May the page's own files be given out?
    pub fn may_have_page(&self, asked: Asked<'_>) -> bool {
        let own = |host: &str| self.hosts.iter().any(|h| h == host);
        let same_origin = asked.origin.is_none_or(|o| o.strip_prefix("http://").is_some_and(own));
        asked.host.is_some_and(own) && same_origin
    }

    /// May a question be answered?
    pub fn may_ask(&self, asked: Asked<'_>) -> bool {
        self.may_have_page(asked) && asked.token.is_some_and(|t| self.token.is(t))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_must_fit() {
        let guard = Guard::new(Token("00ff".into()), 8000);
        let good = Asked { host: Some("127.0.0.1:8000"), origin: None, token: Some("00ff") };
        assert!(guard.may_ask(good));
        assert!(guard.may_ask(Asked { origin: Some("http://127.0.0.1:8000"), ..good }));
        assert!(guard.may_ask(Asked { host: Some("localhost:8000"), ..good }));
        for bad in [
            Asked { host: None, ..good },
            Asked { host: Some("127.0.0.1"), ..good },
            Asked { host: Some("127.0.0.1:8001"), ..good },
            Asked { host: Some("evil.example:8000"), ..good },
            Asked { origin: Some("http://evil.example"), ..good },
            Asked { origin: Some("https://127.0.0.1:8000"), ..good },
            Asked { origin: Some("null"), ..good },
            Asked { token: None, ..good },
            Asked { token: Some(""), ..good },
            Asked { token: Some("00fe"), ..good },
            Asked { token: Some("00ff0"), ..good },
        ] {
            assert!(!guard.may_ask(bad), "{bad:?}");
        }
        assert!(guard.may_have_page(Asked { token: None, ..good }));
        assert!(!guard.may_have_page(Asked { host: Some("evil.example"), token: None, origin: None }));
    }

    #[test]
    fn tokens_differ() {
        let (a, b) = (Token::new().unwrap(), Token::new().unwrap());
        assert_eq!(a.text().len(), 32);
        assert_ne!(a.text(), b.text());
    }
}
