//! `quotient.toml`: settings for a folder and the folders below it. The nearest one counts.
//!
//! ```toml
//! options = ["--max-time", "20s"]   # for each run
//! timeout = "60s"                   # after which a run is ended
//! skip = ["parts/*.pml", "old"]     # not tested
//! ```

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::super::options;

/// How long a run may take where nobody says otherwise.
pub(super) const USUAL_TIMEOUT: Duration = Duration::from_secs(60);

/// The settings of a folder.
#[derive(Debug, Default)]
pub(super) struct Folder {
    at: PathBuf,
    pub(super) options: Vec<String>,
    pub(super) timeout: Option<Duration>,
    skip: Vec<String>,
}

impl Folder {
    /// Is this file or folder left out?
    pub(super) fn leaves_out(&self, path: &Path) -> bool {
        let Ok(inner) = path.strip_prefix(&self.at) else { return false };
        let inner = inner.to_string_lossy();
        self.skip.iter().any(|pattern| matches(pattern.trim_end_matches('/').as_bytes(), inner.as_bytes()))
    }
}

/// `*` stands for anything but a slash.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern, text) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => {
            matches(rest, text) || matches!(text, [c, more @ ..] if *c != b'/' && matches(pattern, more))
        }
        ([p, rest @ ..], [c, more @ ..]) => p == c && matches(rest, more),
        _ => false,
    }
}

/// All settings met so far, by folder.
#[derive(Default)]
pub(super) struct Settings(HashMap<PathBuf, Arc<Folder>>);

impl Settings {
    /// Those for a file or folder: of the folder that it is in, or the next one above that has some.
    pub(super) fn of(&mut self, path: &Path) -> Result<Arc<Folder>, String> {
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        if let Some(known) = self.0.get(&folder) {
            return Ok(known.clone());
        }
        let file = folder.join("quotient.toml");
        let found = match std::fs::read_to_string(&file) {
            Ok(text) => Arc::new(read(&folder, &text).map_err(|why| format!("{}: {why}", file.display()))?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => match folder.parent() {
                Some(above)
                    if !folder.as_os_str().is_empty() && folder != Path::new(".") && above != folder =>
                {
                    self.of(&folder)?
                }
                _ => Arc::default(),
            },
            Err(error) => return Err(format!("{}: {error}", file.display())),
        };
        self.0.insert(folder, found.clone());
        Ok(found)
    }
}

/// More brackets in all, or dots on a line, than settings have.
const MOST: usize = 256;

/// Refuses text for which the reader of TOML, which calls itself for each list, table and part of a dotted name, could need more than its stack.
fn bounded(text: &str) -> Result<(), String> {
    let dots = |line: &str| line.matches('.').count();
    if text.matches(['[', '{']).count() > MOST || text.lines().any(|line| dots(line) > MOST) {
        return Err(format!(
            "more than {MOST} brackets, or dots on a line; settings are strings and lists of strings"
        ));
    }
    Ok(())
}

fn read(folder: &Path, text: &str) -> Result<Folder, String> {
    bounded(text)?;
    let values: serde_json::Map<String, serde_json::Value> =
        basic_toml::from_str(text).map_err(|error| error.to_string())?;
    let mut settings = Folder { at: folder.to_path_buf(), ..Folder::default() };
    for (key, value) in values {
        let words = || -> Result<Vec<String>, String> {
            let wrong = || format!("`{key}` is a list of strings");
            let list = value.as_array().ok_or_else(wrong)?;
            list.iter().map(|word| word.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
        };
        match key.as_str() {
            "options" => settings.options = words()?,
            "skip" => settings.skip = words()?,
            "timeout" => {
                let text = value.as_str().ok_or("`timeout` is a string: \"60s\"")?;
                settings.timeout = Some(options::duration(text).map_err(|why| format!("timeout: {why}"))?);
            }
            _ => return Err(format!("unknown setting `{key}`; known are options, timeout and skip")),
        }
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        assert!(matches(b"parts/*.pml", b"parts/a.pml"));
        assert!(!matches(b"parts/*.pml", b"parts/deep/a.pml"));
        assert!(!matches(b"*.pml", b"parts/a.pml"));
        assert!(matches(b"old", b"old"));
    }

    #[test]
    fn settings_are_read_or_refused() {
        let read = |text: &str| read(Path::new("m"), text);
        let folder = read("options = [\"--max-time\", \"1s\"]\ntimeout = \"2s\"\nskip = [\"a*\"]\n").unwrap();
        assert_eq!(folder.options, ["--max-time", "1s"]);
        assert_eq!(folder.timeout, Some(Duration::from_secs(2)));
        assert!(folder.leaves_out(Path::new("m/ab")) && !folder.leaves_out(Path::new("m/b")));
        assert!(read("option = []\n").unwrap_err().contains("unknown setting `option`"));
        assert!(read("options = 3\n").unwrap_err().contains("list of strings"));
        assert!(read("timeout = \"soon\"\n").is_err());
        assert!(read("= 3").is_err());
        for text in ["[".repeat(100_000), "{a=".repeat(100_000), "a.".repeat(100_000)] {
            assert!(read(&format!("a = {text}")).unwrap_err().contains("more than 256"));
            assert!(read(&format!("[{text}")).unwrap_err().contains("more than 256"));
        }
    }
}
