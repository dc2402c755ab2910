//! Finding models, and model instances: a file together with values for its parameters.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// All `.pml` files among `paths` and below the folders among them, sorted.
pub fn models_under(paths: &[PathBuf]) -> Result<BTreeSet<PathBuf>, String> {
    let mut found = BTreeSet::new();
    let mut pending: Vec<PathBuf> = paths.to_vec();
    let given: BTreeSet<&PathBuf> = paths.iter().collect();
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            for entry in entries {
                pending.push(entry.map_err(|error| format!("{}: {error}", path.display()))?.path());
            }
        } else if !path.exists() {
            return Err(format!("{}: no such file or folder", path.display()));
        } else if given.contains(&path) || path.extension().is_some_and(|extension| extension == "pml") {
            found.insert(path);
        }
    }
    Ok(found)
}

/// A model file with `#define`s put in front, so that any checker can read the instance without
/// options of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// What tables call it: the file's stem and the parameter values.
    pub name: String,
    /// The model file.
    pub file: PathBuf,
    /// Parameter names and values.
    pub parameters: Vec<(String, String)>,
}

impl Instance {
    /// Reads a line such as `phils.pml N=11`; the path is relative to `folder`.
    pub fn parse(line: &str, folder: &Path) -> Result<Instance, String> {
        let mut words = line.split_whitespace();
        let file = words.next().ok_or("an empty model line")?;
        let mut parameters = Vec::new();
        for word in words {
            let (name, value) =
                word.split_once('=').ok_or(format!("`{word}` is not NAME=VALUE in `{line}`"))?;
            parameters.push((name.to_string(), value.to_string()));
        }
        let stem = Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let values: Vec<_> = parameters.iter().map(|(_, value)| value.as_str()).collect();
        let mut name = stem.unwrap_or_default();
        if !values.is_empty() {
            name = format!("{name}.{}", values.join("_"));
        }
        Ok(Instance { name, file: folder.join(file), parameters })
    }

    /// The instance of a file without parameters.
    pub fn of_file(file: &Path) -> Instance {
        let name = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        Instance { name, file: file.to_path_buf(), parameters: Vec::new() }
    }

    /// The instance's source text.
    pub fn text(&self) -> Result<String, String> {
        let text = std::fs::read_to_string(&self.file)
            .map_err(|error| format!("cannot read {}: {error}", self.file.display()))?;
        let defines: String =
            self.parameters.iter().map(|(name, value)| format!("#define {name} {value}\n")).collect();
        Ok(defines + &text)
    }
}

/// Reads a list of instances: one per line, `#` starts a comment.
pub fn read_list(list: &Path) -> Result<Vec<Instance>, String> {
    let text =
        std::fs::read_to_string(list).map_err(|error| format!("cannot read {}: {error}", list.display()))?;
    let folder = list.parent().unwrap_or(Path::new("."));
    text.lines()
        .map(|line| line.split('#').next().unwrap_or_default().trim())
        .filter(|line| !line.is_empty())
        .map(|line| Instance::parse(line, folder))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_become_part_of_the_name() {
        let instance = Instance::parse("bakery.pml N=3 MAX=6", Path::new("models")).unwrap();
        assert_eq!(instance.name, "bakery.3_6");
        assert_eq!(instance.file, Path::new("models/bakery.pml"));
        assert!(Instance::parse("bakery.pml N", Path::new("")).is_err());
    }
}
