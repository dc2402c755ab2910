//! Messages as they are sent: a header with the length, then JSON.

use std::io::{self, BufRead, Write};

use serde_json::{Value, json};

/// No message is longer than this: what asks for more memory is not an editor.
const LONGEST: usize = 256 << 20;

/// Codes of errors.
pub(crate) mod code {
    /// The text is not JSON.
    pub(crate) const PARSE: i64 = -32700;
    /// There is no such method.
    pub(crate) const NO_METHOD: i64 = -32601;
    /// The parameters are wrong.
    pub(crate) const PARAMETERS: i64 = -32602;
    /// The server has not been initialized.
    pub(crate) const NOT_INITIALIZED: i64 = -32002;
    /// The request is well-formed and cannot be done.
    pub(crate) const FAILED: i64 = -32803;
}

/// The next message; none at the end of the input. A text that is not JSON is the inner error.
pub(crate) fn read(input: &mut impl BufRead) -> io::Result<Option<Result<Value, String>>> {
    let mut length: Option<usize> = None;
    let mut line = String::new();
    loop {
        line.clear();
        if input.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let header = line.trim_end();
        if header.is_empty() {
            match length {
                Some(_) => break,
                // Blank lines between messages do no harm.
                None => continue,
            }
        }
        if let Some((name, value)) = header.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok();
        }
    }
    let length = length.unwrap_or(0);
    if length > LONGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a message that is too long"));
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body)?;
    Ok(Some(serde_json::from_slice(&body).map_err(|error| error.to_string())))
}

/// Sends a message.
pub(crate) fn write(output: &mut impl Write, message: &Value) -> io::Result<()> {
    let body = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{body}", body.len())?;
    output.flush()
}

/// The answer to a request.
pub(crate) fn answer(id: &Value, result: Result<Value, Wrong>) -> Value {
    match result {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(wrong) => {
            json!({ "jsonrpc": "2.0", "id": id, "error": { "code": wrong.code, "message": wrong.message } })
        }
    }
}

/// Something that is said without an answer.
pub(crate) fn notification(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

/// Why a request has no result.
#[derive(Debug)]
pub(crate) struct Wrong {
    pub(crate) code: i64,
    pub(crate) message: String,
}

impl Wrong {
    pub(crate) fn failed(message: impl Into<String>) -> Wrong {
        Wrong { code: code::FAILED, message: message.into() }
    }

    pub(crate) fn parameters(message: impl Into<String>) -> Wrong {
        Wrong { code: code::PARAMETERS, message: message.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_as_they_are_written() {
        let mut sent = Vec::new();
        write(&mut sent, &json!({ "a": "é" })).unwrap();
        sent.extend_from_slice(
            b"Content-Type: x\r\nContent-Length: 3\r\n\r\n{ }\r\ncontent-length: 1\r\n\r\n{",
        );
        let mut input = &sent[..];
        assert_eq!(read(&mut input).unwrap(), Some(Ok(json!({ "a": "é" }))));
        assert_eq!(read(&mut input).unwrap(), Some(Ok(json!({}))));
        assert!(matches!(read(&mut input).unwrap(), Some(Err(_))));
        assert_eq!(read(&mut input).unwrap(), None);
        assert!(read(&mut &b"Content-Length: 9\r\n\r\n{}"[..]).is_err());
        assert!(read(&mut &b"Content-Length: 99999999999\r\n\r\n{}"[..]).is_err());
    }
}
