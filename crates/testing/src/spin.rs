//! SPIN as a judge.

use std::process::{Command, Stdio};

use crate::Folder;

/// The verifier that SPIN makes of a model.
#[derive(Debug)]
pub struct Verifier {
    folder: Folder,
}

impl Verifier {
    /// Has SPIN translate a model, without its own optimisations (`-o1 -o2 -o3`), and compiles it without partial order reduction,
    /// with these definitions (`-DSAFETY`). An error says why SPIN or the compiler refuses it. `QUOTIENT_SPIN_CC` names the C compiler: with
    /// `tcc` compiling takes a tenth of the time.
    ///
    /// # Panics
    ///
    /// If SPIN or a C compiler is not installed.
    pub fn new(text: &str, definitions: &[&str]) -> Result<Verifier, String> {
        Verifier::corrected(text, definitions, &[])
    }

    /// The same, with errors in SPIN's verifiers corrected: in its C code the first of two texts is replaced by the second.
    ///
    /// # Panics
    ///
    /// If the code does not have the first text exactly once, besides what [`Verifier::new`] says.
    pub fn corrected(
        text: &str,
        definitions: &[&str],
        corrections: &[(&str, &str)],
    ) -> Result<Verifier, String> {
        let folder = Folder::new();
        folder.write("model.pml", text);
        let (_, said) = run(&folder, "spin", &["-o1", "-o2", "-o3", "-a", "model.pml"]);
        // After a syntax error it still writes a verifier, of what it could make of the text.
        if said.contains("syntax error") || !folder.path().join("pan.c").exists() {
            // `else` next to a channel operation draws a complaint that is not an error.
            let fatal = said.lines().find(|line| line.contains("rror") && !line.contains("dubious"));
            return Err(fatal.unwrap_or("no verifier").to_owned());
        }
        if !corrections.is_empty() {
            let file = folder.path().join("pan.c");
            let mut code = std::fs::read_to_string(file).map_err(|e| e.to_string())?;
            for (wrong, right) in corrections {
                assert_eq!(code.matches(wrong).count(), 1, "this SPIN has other code than `{wrong}`");
                code = code.replace(wrong, right);
            }
            folder.write("pan.c", &code);
        }
        let common = ["-O0", "-w", "-DNOREDUCE", "-DVECTORSZ=8192", "-o", "pan", "pan.c"];
        let compiler = std::env::var("QUOTIENT_SPIN_CC").unwrap_or_else(|_| "cc".to_owned());
        let (compiled, said) = run(&folder, &compiler, &[definitions, &common].concat());
        if compiled {
            return Ok(Verifier { folder });
        }
        Err(format!("compilation: {}", said.lines().find(|l| l.contains("error")).unwrap_or("failed")))
    }

    /// Runs it. `None` where its table or stack was too small.
    pub fn run(&self, options: &[&str]) -> Option<String> {
        let pan = self.folder.path().join("pan");
        let (_, said) = run(&self.folder, &pan.to_string_lossy(), &[options, &["-m200000", "-w18"]].concat());
        (!said.contains("max search depth too small")).then_some(said)
    }
}

/// What a program says, and whether it succeeds.
fn run(folder: &Folder, program: &str, arguments: &[&str]) -> (bool, String) {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder.path()).stdin(Stdio::null());
    let output =
        command.output().unwrap_or_else(|e| panic!("{program} must be installed for this test: {e}"));
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).into_owned())
}
