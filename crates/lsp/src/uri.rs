//! Addresses of files, as editors write them.

use std::path::{Path, PathBuf};

/// The file that an address names.
pub(crate) fn to_path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = &rest[rest.find('/')?..];
    let mut bytes = Vec::with_capacity(path.len());
    let mut left = path.bytes();
    while let Some(byte) = left.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| (byte? as char).to_digit(16);
        bytes.push((digit(left.next())? * 16 + digit(left.next())?) as u8);
    }
    Some(PathBuf::from(String::from_utf8(bytes).ok()?))
}

/// The address of a file.
pub(crate) fn from_path(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut uri = String::from("file://");
    for byte in path.to_string_lossy().bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' => uri.push(byte as char),
            _ if byte.is_ascii_alphanumeric() => uri.push(byte as char),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_files() {
        for path in ["/a/b.pml", "/a b/é%.pml", "/"] {
            assert_eq!(to_path(&from_path(Path::new(path))).as_deref(), Some(Path::new(path)));
        }
        assert_eq!(to_path("file://localhost/x%3a"), Some(PathBuf::from("/x:")));
        for wrong in ["", "file://", "untitled:1", "file:///%", "file:///%zz", "file:///%ff"] {
            assert_eq!(to_path(wrong), None, "{wrong}");
        }
    }
}
