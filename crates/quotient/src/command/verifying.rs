//! `quotient verify`: checks a certificate, and that it is about a program.
//!
//! What a certificate proves is said of the program inside it. Only the comparison with a file ties it to something that
//! somebody wrote, so without a file the answer says that nothing does. An assertion of the program that the certificate
//! does not prove is not verified, and then the certificate as a whole is not a success.

use std::io::Write;
use std::path::Path;

use quotient::promela::ParseOptions;
use quotient_proof_check::Established;
use quotient_proof_check::format::{Assertion, Certificate};

use quotient_proof::certificate;
use quotient_proof::domain::Domain;

use super::proving::load;

/// Every assertion was proved.
const VERIFIED: u8 = 0;
/// The certificate or the program cannot be read.
const UNUSABLE: u8 = 2;
/// Something is not proved by the certificate.
const INCOMPLETE: u8 = 5;
/// The certificate is wrong, or about something else.
const REFUSED: u8 = 10;

/// Checks a certificate and, when the program is given, that the certificate is about that program, all of it.
pub(crate) fn verify_main(
    file: &Path,
    source: Option<&Path>,
    preprocessor: &ParseOptions,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> u8 {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => {
            let _ = writeln!(stderr, "error: {}", quotient_source::unreadable(file, &error));
            return UNUSABLE;
        }
    };
    let found = match quotient_proof_check::read(&text) {
        Ok(found) => found,
        Err(error) => {
            let help = "help: `quotient prove FILE --certificate CERTIFICATE` writes one";
            let _ = writeln!(stderr, "error: {} is not a certificate: {error}\n{help}", file.display());
            return UNUSABLE;
        }
    };
    let mut asked = found.program.assertions.clone();
    if let Some(source) = source {
        let program = match load(source, preprocessor, false, stderr) {
            Ok(loaded) => loaded.program,
            Err(_) => return UNUSABLE,
        };
        let own = certificate::program(&program, &Domain::of(&program));
        if own.rules != found.program.rules || own.columns != found.program.columns {
            let _ = writeln!(stdout, "refused: the certificate is not about {}", source.display());
            return REFUSED;
        }
        // What the file does not say may be proved and used (symmetries that were proposed); it may not be assumed.
        let strange = found.program.assertions.iter().find(|a| a.assumed && !own.assertions.contains(a));
        if let Some(assertion) = strange {
            let _ = writeln!(stdout, "refused: {} does not assume `{}`", source.display(), assertion.name);
            return REFUSED;
        }
        asked = own.assertions;
    }
    let established = match quotient_proof_check::check(&found) {
        Ok(established) => established,
        Err(reason) => {
            let _ = writeln!(stdout, "refused: {reason}");
            return REFUSED;
        }
    };
    let complete = print(&found, &asked, &established, stdout);
    if source.is_none() {
        let _ = writeln!(
            stdout,
            "note: nothing ties this certificate to a program; use --program FILE to compare its rules and assertions with a file"
        );
    }
    if complete { VERIFIED } else { INCOMPLETE }
}

/// Says of each assertion asked for whether it is proved; gives whether all of them are.
fn print(
    found: &Certificate,
    asked: &[Assertion],
    established: &[Established],
    stdout: &mut dyn Write,
) -> bool {
    let name = |a: usize| found.program.assertions[a].name.as_str();
    let mut complete = true;
    for assertion in asked {
        if assertion.assumed {
            continue;
        }
        let proved = established.iter().find(|e| found.program.assertions[e.assertion] == *assertion);
        let Some(e) = proved else {
            complete = false;
            let _ = writeln!(stdout, "{}: not proved by the certificate", assertion.name);
            continue;
        };
        let given: Vec<&str> = e.assumptions.iter().map(|&a| name(a)).collect();
        let condition =
            if given.is_empty() { String::new() } else { format!(", given {}", given.join(", ")) };
        let level = match (e.one_level, e.one_level_inverse) {
            (true, true) => ", one level in both directions",
            (true, false) => ", one level",
            _ => "",
        };
        let _ = writeln!(stdout, "{}: verified{level}{condition}", assertion.name);
    }
    if established.is_empty() {
        complete = false;
        let _ = writeln!(stdout, "the certificate proves nothing");
    }
    complete
}
