//! The conversation: messages come from the editor and from checks that have ended, one after the other.
//!
//! A text is read again when nothing else waits, so that whoever types fast is not followed letter by letter.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvError, Sender, TryRecvError, channel};

use serde_json::{Value, json};

use crate::document::Document;
use crate::names::Meaning;
use crate::rpc::{self, Wrong, code};
use crate::{Host, diagnostics, format, found, hover, outline, rename, uri};

/// What happens.
enum Event {
    /// A message of the editor, or a text that is none.
    Message(Result<Value, String>),
    /// The editor is gone.
    Gone,
    /// A check has ended, of the text with this version.
    Checked { uri: String, version: Value, answer: Result<Value, String> },
    /// The explorer is there, or not.
    Explored(Result<String, String>),
}

struct Server<W> {
    output: W,
    host: Arc<dyn Host>,
    events: Sender<Event>,
    documents: BTreeMap<String, Document>,
    initialized: bool,
    /// The editor can show a page.
    shows_documents: bool,
    /// `shutdown` was asked for.
    ending: bool,
    /// Requests that this server has made.
    asked: u64,
}

/// Answers an editor until it says goodbye.
pub(crate) fn serve(
    mut input: impl BufRead + Send + 'static,
    output: impl Write,
    host: Arc<dyn Host>,
) -> bool {
    let (events, waiting) = channel();
    let reader = events.clone();
    std::thread::spawn(move || {
        while let Ok(Some(message)) = rpc::read(&mut input) {
            if reader.send(Event::Message(message)).is_err() {
                return;
            }
        }
        // Nobody listens any more if this fails.
        _ = reader.send(Event::Gone);
    });
    let mut server = Server {
        output,
        host,
        events,
        documents: BTreeMap::new(),
        initialized: false,
        shows_documents: false,
        ending: false,
        asked: 0,
    };
    let polite = server.run(&waiting);
    server.host.end();
    polite
}

impl<W: Write> Server<W> {
    fn run(&mut self, waiting: &Receiver<Event>) -> bool {
        loop {
            let event = match waiting.try_recv() {
                Ok(event) => Ok(event),
                Err(TryRecvError::Empty) => {
                    self.publish();
                    waiting.recv()
                }
                Err(TryRecvError::Disconnected) => Err(RecvError),
            };
            match event {
                Ok(Event::Message(Ok(message))) => {
                    if message["method"] == "exit" {
                        return self.ending;
                    }
                    self.message(&message);
                }
                Ok(Event::Message(Err(error))) => {
                    let wrong = Wrong { code: code::PARSE, message: error };
                    self.send(&rpc::answer(&Value::Null, Err(wrong)));
                }
                Ok(Event::Checked { uri, version, answer }) => self.checked(&uri, &version, answer),
                Ok(Event::Explored(address)) => self.explored(address),
                Ok(Event::Gone) | Err(RecvError) => {
                    // Somebody may still read what is said.
                    self.publish();
                    return false;
                }
            }
        }
    }

    /// Sends a message. An editor that does not read has gone, which its input tells.
    fn send(&mut self, message: &Value) {
        _ = rpc::write(&mut self.output, message);
    }

    fn say(&mut self, wrong: bool, text: &str) {
        let kind = if wrong { 2 } else { 3 };
        self.send(&rpc::notification("window/showMessage", json!({ "type": kind, "message": text })));
    }

    /// Sends what is wrong with the texts that have changed.
    fn publish(&mut self) {
        let mut messages = Vec::new();
        for document in self.documents.values_mut().filter(|d| d.changed) {
            document.look();
            document.changed = false;
            messages.push(diagnostics::published(document));
        }
        for message in messages {
            self.send(&rpc::notification("textDocument/publishDiagnostics", message));
        }
    }

    fn message(&mut self, message: &Value) {
        let Some(method) = message["method"].as_str() else {
            // An answer to something that this server has asked.
            return;
        };
        let params = &message["params"];
        let Some(id) = message.get("id") else {
            self.told(method, params);
            return;
        };
        let result = match method {
            "initialize" => Ok(self.initialize(params)),
            _ if !self.initialized => Err(Wrong {
                code: code::NOT_INITIALIZED,
                message: "the first request is `initialize`".into(),
            }),
            _ => {
                // What is asked is asked about the text as it is now.
                if let Some(document) = named(params).and_then(|uri| self.documents.get_mut(uri))
                    && document.changed
                {
                    document.look();
                }
                self.request(method, params)
            }
        };
        self.send(&rpc::answer(id, result));
    }

    fn told(&mut self, method: &str, params: &Value) {
        match method {
            "textDocument/didOpen" => {
                if let Some(document) = Document::open(&params["textDocument"]) {
                    self.documents.insert(document.uri.clone(), document);
                }
            }
            "textDocument/didChange" => {
                if let Some(document) = named(params).and_then(|uri| self.documents.get_mut(uri)) {
                    document.change(&params["textDocument"]["version"], &params["contentChanges"]);
                }
            }
            // Other files may be included.
            "textDocument/didSave" => self.documents.values_mut().for_each(|d| d.changed = true),
            "textDocument/didClose" => {
                if let Some(document) = named(params).and_then(|uri| self.documents.remove(uri)) {
                    let none = json!({ "uri": document.uri, "diagnostics": [] });
                    self.send(&rpc::notification("textDocument/publishDiagnostics", none));
                }
            }
            _ => {}
        }
    }

    fn initialize(&mut self, params: &Value) -> Value {
        self.initialized = true;
        self.shows_documents = params["capabilities"]["window"]["showDocument"]["support"] == true;
        json!({
            "capabilities": {
                "positionEncoding": "utf-16",
                "textDocumentSync": { "openClose": true, "change": 2, "save": true },
                "hoverProvider": true,
                "definitionProvider": true,
                "referencesProvider": true,
                "documentHighlightProvider": true,
                "documentSymbolProvider": true,
                "documentFormattingProvider": true,
                "renameProvider": { "prepareProvider": true },
                "codeLensProvider": {},
                "executeCommandProvider": { "commands": [outline::CHECK, outline::EXPLORE] },
            },
            "serverInfo": { "name": "quotient", "version": env!("CARGO_PKG_VERSION") },
        })
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value, Wrong> {
        match method {
            "shutdown" => {
                self.ending = true;
                Ok(Value::Null)
            }
            "workspace/executeCommand" => self.command(params),
            "textDocument/hover" => self.at(params, |d, at| {
                Ok(hover::hover(d, at).map_or(Value::Null, |(range, text)| {
                    json!({ "contents": { "kind": "markdown", "value": text }, "range": d.text.range(&range) })
                }))
            }),
            "textDocument/definition" => self.at(params, |d, at| Ok(definition(d, at).unwrap_or_default())),
            "textDocument/references" => {
                let declared = params["context"]["includeDeclaration"] != false;
                self.at(params, |d, at| {
                    let location = |r: Range<usize>| json!({ "uri": d.uri, "range": d.text.range(&r) });
                    Ok(Value::Array(references(d, at, declared).into_iter().map(location).collect()))
                })
            }
            "textDocument/documentHighlight" => self.at(params, |d, at| {
                let mark = |r: Range<usize>| json!({ "range": d.text.range(&r) });
                Ok(Value::Array(references(d, at, true).into_iter().map(mark).collect()))
            }),
            "textDocument/prepareRename" => {
                self.at(params, |d, at| Ok(rename::prepare(d, at).map_or(Value::Null, |r| d.text.range(&r))))
            }
            "textDocument/rename" => {
                let new = params["newName"].as_str().unwrap_or("");
                self.at(params, |d, at| {
                    let edit = |r: &Range<usize>| json!({ "range": d.text.range(r), "newText": new });
                    let edits: Vec<Value> = rename::rename(d, at, new)?.iter().map(edit).collect();
                    Ok(json!({ "changes": { d.uri.clone(): edits } }))
                })
            }
            "textDocument/documentSymbol" => self.document(params).map(outline::outline),
            "textDocument/codeLens" => self.document(params).map(outline::lenses),
            "textDocument/formatting" => {
                let spaces = params["options"]["insertSpaces"] == true;
                let size = params["options"]["tabSize"].as_u64().unwrap_or(4).min(16) as usize;
                let unit = if spaces { " ".repeat(size) } else { "\t".to_owned() };
                self.document(params).map(|d| formatted(d, &format::Indentation { unit }))
            }
            _ => Err(Wrong { code: code::NO_METHOD, message: format!("there is no `{method}`") }),
        }
    }

    fn document(&self, params: &Value) -> Result<&Document, Wrong> {
        let document = named(params).and_then(|uri| self.documents.get(uri));
        document.ok_or_else(|| Wrong::parameters("the document is not open, or not a model"))
    }

    /// Answers about a place of a text.
    fn at(
        &self,
        params: &Value,
        answer: impl Fn(&Document, usize) -> Result<Value, Wrong>,
    ) -> Result<Value, Wrong> {
        let document = self.document(params)?;
        match document.text.offset(&params["position"]) {
            Some(at) => answer(document, at),
            None => Err(Wrong::parameters("there is no such position")),
        }
    }

    /// Starts a check or the explorer; the answer comes later.
    fn command(&mut self, params: &Value) -> Result<Value, Wrong> {
        let argument = |number: usize| params["arguments"][number].as_str();
        let document = argument(0).and_then(|uri| self.documents.get(uri));
        let document =
            document.ok_or_else(|| Wrong::parameters("the document is not open, or not a model"))?;
        let file = document.path.clone().filter(|_| document.is_saved());
        let file = file
            .ok_or_else(|| Wrong::failed("save the file first: what is checked is the file on the disk"))?;
        let (host, events) = (Arc::clone(&self.host), self.events.clone());
        match params["command"].as_str() {
            Some(outline::CHECK) => {
                let claim = argument(1).map(str::to_owned);
                let (uri, version) = (document.uri.clone(), document.version.clone());
                std::thread::spawn(move || {
                    let answer = host.check(&file, claim.as_deref());
                    // Nobody listens any more if this fails.
                    _ = events.send(Event::Checked { uri, version, answer });
                });
            }
            Some(outline::EXPLORE) => {
                std::thread::spawn(move || _ = events.send(Event::Explored(host.explore(&file))));
            }
            _ => return Err(Wrong::parameters("there is no such command")),
        }
        Ok(Value::Null)
    }

    fn checked(&mut self, uri: &str, version: &Value, answer: Result<Value, String>) {
        let Some(document) = self.documents.get_mut(uri) else { return };
        let answer = match answer {
            Ok(answer) => answer,
            Err(message) => return self.say(true, &message),
        };
        if document.version != *version {
            return self.say(true, "the text has changed since the check was begun: its answer is left out");
        }
        let (said, violations) = found::found(document, &answer);
        let sentences = answer["reductions"]["symmetry_found"].as_array().into_iter().flatten();
        document.symmetry = sentences.filter_map(|s| s.as_str().map(str::to_owned)).collect();
        document.found = violations;
        document.changed = true;
        self.say(answer["verdict"] != "holds", &said);
    }

    fn explored(&mut self, address: Result<String, String>) {
        match address {
            Ok(address) if self.shows_documents => {
                self.asked += 1;
                let params = json!({ "uri": address, "external": true });
                let id = format!("quotient {}", self.asked);
                self.send(
                    &json!({ "jsonrpc": "2.0", "id": id, "method": "window/showDocument", "params": params }),
                );
            }
            Ok(address) => self.say(false, &format!("open {address} in a browser on this machine")),
            Err(message) => self.say(true, &message),
        }
    }
}

/// The text that a message is about.
fn named(params: &Value) -> Option<&str> {
    params["textDocument"]["uri"].as_str()
}

fn definition(document: &Document, at: usize) -> Option<Value> {
    let (_, meaning) = document.index.at(at)?;
    let symbol = document.index.symbol(meaning);
    Some(match meaning.file {
        None => json!({ "uri": document.uri, "range": document.text.range(&symbol.range) }),
        Some(file) => {
            let included = &document.index.included[file];
            json!({ "uri": uri::from_path(Path::new(&included.path)), "range": included.text.range(&symbol.range) })
        }
    })
}

fn references(document: &Document, at: usize, declared: bool) -> Vec<Range<usize>> {
    let Some((_, meaning)) = document.index.at(at) else { return Vec::new() };
    let Meaning { file, .. } = meaning;
    let declaration = &document.index.symbol(meaning).range;
    let wanted = |place: &Range<usize>| declared || file.is_some() || place != declaration;
    document.index.places(meaning).filter(wanted).collect()
}

fn formatted(document: &Document, indentation: &format::Indentation) -> Value {
    let text = document.text.as_str();
    match format::format(document.language, text, indentation) {
        Some(new) if new != text => {
            json!([{ "range": document.text.range(&(0..text.len())), "newText": new }])
        }
        _ => json!([]),
    }
}
