//! The page's files, as they are in the binary. `web/` has what they are made from.

/// A file of the page.
#[derive(Clone, Copy, Debug)]
pub struct File {
    /// Its media type.
    pub kind: &'static str,
    /// What it contains.
    pub content: &'static [u8],
}

/// The file with this path; there are no others.
pub fn file(path: &str) -> Option<File> {
    let (kind, content): (_, &[u8]) = match path {
        "/" | "/index.html" => ("text/html; charset=utf-8", include_bytes!("../web/index.html")),
        "/app.js" => ("text/javascript; charset=utf-8", include_bytes!("../web/built/app.js")),
        "/app.css" => ("text/css; charset=utf-8", include_bytes!("../web/app.css")),
        "/icon.svg" => ("image/svg+xml", include_bytes!("../web/icon.svg")),
        _ => return None,
    };
    Some(File { kind, content })
}
