//! A language server for models, as editors talk to one: JSON-RPC over standard input and output.
//!
//! What is wrong with a model comes from its front end ([`diagnostics`]), on every change. Names are found in the text as it is
//! ([`names`]), so that they are known while the model has mistakes; what a variable is used for comes from the program
//! ([`hover`]). Renaming proves that the model stays the same ([`rename`]), formatting that its tokens do ([`format`]). Checks are
//! made by somebody else ([`Host`]), apart from this process; a counterexample is shown as a diagnostic with a related place for
//! each step ([`found`]).
//!
//! Nothing here prints or ends the process, and no message of an editor, however wrong, causes a panic.

mod diagnostics;
mod document;
mod format;
mod found;
mod hover;
mod names;
mod outline;
mod rename;
mod rpc;
mod server;
mod text;
mod uri;

use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

/// Who checks and explores for an editor.
pub trait Host: Send + Sync {
    /// Checks a file, one of its claims if one is named; gives the document that `check --json` prints. A check that is asked for
    /// while another runs ends that one.
    fn check(&self, file: &Path, claim: Option<&str>) -> Result<Value, String>;

    /// Serves the explorer for a file, until [`Host::end`]; gives its address.
    fn explore(&self, file: &Path) -> Result<String, String>;

    /// Ends whatever was begun.
    fn end(&self);
}

/// Answers an editor until it says goodbye; `true` if it did so as it should (`shutdown`, then `exit`).
pub fn serve(input: impl BufRead + Send + 'static, output: impl Write, host: Arc<dyn Host>) -> bool {
    server::serve(input, output, host)
}
