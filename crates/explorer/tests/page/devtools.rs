//! A browser, driven over the DevTools protocol through two pipes.

use std::cell::RefCell;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long something may take that a test waits for: the machine may be busy.
const LONGEST: Duration = Duration::from_secs(180);

/// A page in a browser without a window.
pub struct Browser {
    child: Child,
    folder: PathBuf,
    to: RefCell<File>,
    from: RefCell<BufReader<File>>,
    next: RefCell<u64>,
    session: RefCell<Option<String>>,
    /// What the page wrote to its console, errors of scripts, and requests that it made.
    pub said: RefCell<Vec<String>>,
    pub requested: RefCell<Vec<String>>,
}

impl Browser {
    /// Starts Chromium with an empty page.
    pub fn start(name: &str) -> Browser {
        let folder = std::env::temp_dir().join(format!("quotient-page-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (to, from) = (folder.join("to"), folder.join("from"));
        for pipe in [&to, &from] {
            assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
        }
        let profile = folder.join("profile");
        let line = format!(
            "exec chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
             --disable-component-update --disable-sync --hide-scrollbars --remote-debugging-pipe --user-data-dir='{}' about:blank \
             3<'{}' 4>'{}'",
            profile.display(),
            to.display(),
            from.display()
        );
        let child = Command::new("sh")
            .args(["-c", &line])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let to = File::options().write(true).open(to).unwrap();
        let from = BufReader::new(File::open(from).unwrap());
        let browser = Browser {
            child,
            folder,
            to: RefCell::new(to),
            from: RefCell::new(from),
            next: RefCell::new(1),
            session: RefCell::new(None),
            said: RefCell::new(Vec::new()),
            requested: RefCell::new(Vec::new()),
        };
        let targets = browser.call("Target.getTargets", json!({}));
        let page = targets["targetInfos"].as_array().unwrap().iter().find(|t| t["type"] == "page").unwrap();
        let attached =
            browser.call("Target.attachToTarget", json!({ "targetId": page["targetId"], "flatten": true }));
        *browser.session.borrow_mut() = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Network", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Calls a method and waits for its result.
    pub fn call(&self, method: &str, parameters: Value) -> Value {
        self.try_call(method, parameters).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// The same where the browser may refuse: while a page is left, its scripts cannot be asked.
    fn try_call(&self, method: &str, parameters: Value) -> Result<Value, Value> {
        let id = *self.next.borrow();
        *self.next.borrow_mut() += 1;
        let mut message = json!({ "id": id, "method": method, "params": parameters });
        if let Some(session) = &*self.session.borrow() {
            message["sessionId"] = json!(session);
        }
        let mut text = message.to_string().into_bytes();
        text.push(0);
        self.to.borrow_mut().write_all(&text).unwrap();
        loop {
            let mut bytes = Vec::new();
            self.from.borrow_mut().read_until(0, &mut bytes).unwrap();
            assert!(!bytes.is_empty(), "the browser has ended");
            bytes.pop();
            let message: Value = serde_json::from_slice(&bytes).unwrap();
            if message["id"] == json!(id) {
                return match &message["error"] {
                    Value::Null => Ok(message["result"].clone()),
                    error => Err(error.clone()),
                };
            }
            self.note(&message);
        }
    }

    fn note(&self, event: &Value) {
        let parameters = &event["params"];
        match event["method"].as_str() {
            Some("Runtime.consoleAPICalled") => self.said.borrow_mut().push(parameters["args"].to_string()),
            Some("Runtime.exceptionThrown") => {
                self.said.borrow_mut().push(parameters["exceptionDetails"].to_string())
            }
            Some("Log.entryAdded") => self.said.borrow_mut().push(parameters["entry"].to_string()),
            Some("Network.requestWillBeSent") => {
                let url = parameters["request"]["url"].as_str().unwrap_or("").to_owned();
                self.requested.borrow_mut().push(url);
            }
            _ => {}
        }
    }

    /// Sets the size of the window, and whether the user likes it dark.
    pub fn size(&self, width: u32, height: u32, scheme: &str) {
        self.zoomed(width, height, 1, scheme);
    }

    /// The same where everything is shown so many times as large: fewer of the window's pixels are the page's.
    pub fn zoomed(&self, width: u32, height: u32, times: u32, scheme: &str) {
        let (width, height) = (width / times, height / times);
        self.call(
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": width, "height": height, "deviceScaleFactor": times, "mobile": false }),
        );
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    /// The user's system has colours of its own.
    pub fn forced_colours(&self) {
        let features = json!([{ "name": "forced-colors", "value": "active" }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    /// Has every page that is opened from now on tell its longest task, as `window.longest`, and all long ones, as `window.tasks`.
    pub fn watch_tasks(&self) {
        let source = "window.longest = 0; window.tasks = []; new PerformanceObserver(l => l.getEntries().forEach(e => { window.longest = Math.max(window.longest, e.duration); window.tasks.push(`${Math.round(e.duration)} at ${Math.round(e.startTime)}`) })).observe({ type: 'longtask', buffered: true })";
        self.call("Page.addScriptToEvaluateOnNewDocument", json!({ "source": source }));
    }

    /// Opens an address and waits until the page is ready.
    pub fn open(&self, address: &str) {
        // The same document would only be told of another fragment.
        self.call("Page.navigate", json!({ "url": "about:blank" }));
        self.call("Page.navigate", json!({ "url": address }));
        self.wait("document.documentElement?.dataset.ready === 'true'");
    }

    /// Leaves the page; nothing that it asked for is under way any more.
    pub fn leave(&self) {
        self.call("Page.navigate", json!({ "url": "about:blank" }));
        self.wait("location.href === 'about:blank'");
    }

    /// The value of an expression of the page.
    pub fn value(&self, expression: &str) -> Value {
        let result = self.call(
            "Runtime.evaluate",
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true }),
        );
        assert!(result["exceptionDetails"].is_null(), "{expression}: {}", result["exceptionDetails"]);
        result["result"]["value"].clone()
    }

    /// The text of the first element that a selector finds.
    pub fn text(&self, selector: &str) -> String {
        let found = self.value(&format!("document.querySelector({})?.innerText ?? null", json!(selector)));
        found.as_str().unwrap_or_else(|| panic!("nothing is found by {selector}")).to_owned()
    }

    /// Waits until an expression is true.
    pub fn wait(&self, expression: &str) {
        let started = Instant::now();
        let asked = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        loop {
            // While a page is left for another, there is nobody to ask, and elements that are asked for may not be there yet.
            match self.try_call("Runtime.evaluate", asked.clone()) {
                Ok(answer) if answer["result"]["value"] == json!(true) => return,
                answer if started.elapsed() > LONGEST => {
                    panic!("{expression} does not become true: {answer:?} {:?}", self.said.borrow())
                }
                _ => {}
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Presses a key.
    pub fn press(&self, key: &str) {
        let mut down = json!({ "type": "keyDown", "key": key });
        if key.chars().count() == 1 {
            down["text"] = json!(key);
        }
        if key == "Enter" {
            down["text"] = json!("\r");
        }
        if key == "Tab" {
            down["windowsVirtualKeyCode"] = json!(9);
        }
        self.call("Input.dispatchKeyEvent", down);
        self.call("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": key }));
    }

    /// Types a text.
    pub fn type_text(&self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
    }

    /// Clicks the first element that a selector finds.
    pub fn click(&self, selector: &str) {
        self.value(&format!("document.querySelector({}).click()", json!(selector)));
    }

    /// What the page does at random from now on it does in the same way in every run of a test.
    pub fn same_chance(&self) {
        self.value("Math.random = () => 0.3; true");
    }

    /// Keeps a picture of the page, where `QUOTIENT_PICTURES` names a folder.
    pub fn picture(&self, name: &str) {
        let Some(folder) = std::env::var_os("QUOTIENT_PICTURES") else { return };
        let shot = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        let bytes = decode(shot["data"].as_str().unwrap());
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(Path::new(&folder).join(name), bytes).unwrap();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Base 64.
fn decode(text: &str) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => u32::from(c - b'A'),
        b'a'..=b'z' => u32::from(c - b'a') + 26,
        b'0'..=b'9' => u32::from(c - b'0') + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut out = Vec::new();
    for chunk in text.trim_end_matches('=').as_bytes().chunks(4) {
        let bits = chunk.iter().fold(0, |bits, c| bits << 6 | digit(*c)) << (6 * (4 - chunk.len()));
        out.extend(&bits.to_be_bytes()[1..chunk.len()]);
    }
    out
}
