//! The language server in a real editor. These tests need Debian's `neovim`; without it they are ignored, by name: `nvim`. `.ci/run` runs
//! them.

use std::path::Path;
use std::process::{Command, Stdio};

use quotient_testing::Folder;
use serde_json::Value;

const MODEL: &str = "byte turn;
bool wants[2];
active [2] proctype user() {
	wants[_pid] = true;
	turn = 1 - _pid;
	(!wants[1 - _pid] || turn == _pid);
	assert(turn != 7);
	wants[_pid] = false
}
";

/// What a user does, in Neovim's own language; `report` collects what was seen.
const SESSION: &str = r#"
local report = {}
local function wait(what, is)
  if not vim.wait(20000, is, 20) then report.late = what end
end
local function finish()
  local file = io.open('report.json', 'w')
  file:write(vim.fn.json_encode(report))
  file:close()
  vim.cmd('qa!')
end
local ok, wrong = pcall(function()
  vim.o.hidden = true
  vim.o.swapfile = false
  vim.cmd('edit model.pml')
  local buffer = vim.api.nvim_get_current_buf()
  local client = vim.lsp.start_client({ cmd = { vim.env.QUOTIENT, 'lsp' }, name = 'quotient', root_dir = vim.fn.getcwd() })
  vim.lsp.buf_attach_client(buffer, client)
  wait('the server', function() return vim.lsp.buf_is_attached(buffer, client) and vim.lsp.get_client_by_id(client) ~= nil and vim.lsp.get_client_by_id(client).initialized end)
  -- A mistake is typed.
  vim.api.nvim_buf_set_lines(buffer, 4, 5, false, { '\tturnn = 1 - _pid;' })
  wait('a diagnostic', function() return #vim.diagnostic.get(buffer) > 0 end)
  local said = vim.diagnostic.get(buffer)[1]
  report.diagnostic = { line = said.lnum + 1, column = said.col, message = said.message }
  -- And mended.
  vim.api.nvim_buf_set_lines(buffer, 4, 5, false, { '\tturn = 1 - _pid;' })
  wait('no diagnostic', function() return #vim.diagnostic.get(buffer) == 0 end)
  -- From a use to the definition.
  vim.api.nvim_win_set_cursor(0, { 6, 24 })
  vim.lsp.buf.definition()
  wait('the definition', function() return vim.api.nvim_win_get_cursor(0)[1] == 1 end)
  report.definition = vim.api.nvim_win_get_cursor(0)
  -- Another name.
  vim.lsp.buf.rename('whose')
  wait('the new name', function() return vim.api.nvim_buf_get_lines(buffer, 0, 1, false)[1] == 'byte whose;' end)
  report.renamed = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n')
  -- A check of the model, after it was broken.
  vim.api.nvim_buf_set_lines(buffer, 6, 7, false, { '\tassert(whose == 7);' })
  vim.cmd('silent write')
  local uri = vim.uri_from_bufnr(buffer)
  wait('the text', function() return #vim.diagnostic.get(buffer) == 0 end)
  vim.lsp.buf_request(buffer, 'workspace/executeCommand', { command = 'quotient.check', arguments = { uri } }, function() end)
  wait('a counterexample', function() return #vim.diagnostic.get(buffer) > 0 end)
  local found = vim.diagnostic.get(buffer)[1]
  local data = found.user_data and found.user_data.lsp or {}
  report.counterexample = { line = found.lnum + 1, message = found.message, steps = #(data.relatedInformation or {}) }
end)
if not ok then report.wrong = tostring(wrong) end
finish()
"#;

fn session(folder: &Path) -> Value {
    std::fs::write(folder.join("model.pml"), MODEL).expect("a model");
    std::fs::write(folder.join("session.lua"), SESSION).expect("a session");
    let mut nvim = Command::new("nvim");
    nvim.args(["--headless", "-u", "NONE", "-i", "NONE", "-c", "luafile session.lua"]).current_dir(folder);
    nvim.env("QUOTIENT", env!("CARGO_BIN_EXE_quotient")).env("HOME", folder).env("XDG_STATE_HOME", folder);
    let output = nvim.stdin(Stdio::null()).output().expect("neovim runs");
    let report = std::fs::read_to_string(folder.join("report.json"))
        .unwrap_or_else(|_| panic!("no report: {}", String::from_utf8_lossy(&output.stderr)));
    serde_json::from_str(&report).expect("a report")
}

#[test]
#[ignore = "needs nvim"]
fn nvim_shows_a_diagnostic_jumps_renames_and_checks() {
    let folder = Folder::new();
    let report = session(folder.path());
    assert_eq!((&report["late"], &report["wrong"]), (&Value::Null, &Value::Null), "{report:#}");
    assert_eq!(report["diagnostic"]["line"], 5);
    assert!(
        report["diagnostic"]["message"].as_str().unwrap_or("").contains("`turnn` is not declared"),
        "{report:#}"
    );
    assert_eq!(report["definition"], serde_json::json!([1, 5]));
    assert_eq!(report["renamed"].as_str().unwrap_or(""), MODEL.replace("turn", "whose").trim_end());
    assert_eq!(report["counterexample"]["line"], 7, "{report:#}");
    assert!(
        report["counterexample"]["message"].as_str().unwrap_or("").starts_with("assertion violated"),
        "{report:#}"
    );
}

#[test]
fn an_editor_that_goes_away_ends_the_server() {
    let mut server = Command::new(env!("CARGO_BIN_EXE_quotient"));
    let output = server.arg("lsp").stdin(Stdio::null()).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
}
