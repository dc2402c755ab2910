//! Every key, the class of a state, a check while it runs, pictures as text.

use serde_json::json;

use crate::devtools::Browser;
use crate::served::Served;
use crate::{FORGETS, FORKS, is_clean};

pub(crate) const WINDOWS: [(u32, u32, &str); 4] =
    [(1440, 900, "light"), (1440, 900, "dark"), (420, 840, "light"), (420, 840, "dark")];

pub(crate) const RING: &str = "#define N 4
bool taken[N];
active [N] proctype philosopher() {
	do
	:: atomic { !taken[_pid] -> taken[_pid] = true };
	   atomic { !taken[(_pid + 1) % N] -> taken[(_pid + 1) % N] = true };
	   taken[_pid] = false; taken[(_pid + 1) % N] = false
	od
}
";

/// A hundred million states.
pub(crate) const MANY: &str = "byte x, y, z, w;
active proctype A() { do :: x = (x + 1) % 100 od }
active proctype B() { do :: y = (y + 1) % 100 od }
active proctype C() { do :: z = (z + 1) % 100 od }
active proctype D() { do :: w = (w + 1) % 100 od }
active proctype M() { do :: assert(x + y + z + w < 1000) od }
";

fn at(step: usize) -> String {
    format!("document.querySelector('#timeline').getAttribute('aria-valuenow') === '{step}'")
}

#[test]
#[ignore = "needs chromium"]
fn the_class_of_a_state_in_a_browser() {
    let served = Served::at("ring.pml", RING, "q1:0");
    let browser = Browser::start("class");
    for (width, height, scheme) in WINDOWS {
        browser.size(width, height, scheme);
        browser.open(&served.address);
        browser.click("[data-tab=reductions]");
        browser.wait("document.querySelectorAll('.member').length === 4");
        assert!(browser.text("#centre").contains("This state stands for 4."), "{}", browser.text("#centre"));
        assert_eq!(browser.value("document.documentElement.scrollWidth > innerWidth"), json!(false));
        browser.picture(&format!("class-{width}-{scheme}.png"));
    }
    browser.size(1440, 900, "light");
    browser.open(&served.address);
    browser.click("[data-tab=reductions]");
    browser.wait("document.querySelectorAll('.member').length === 4");
    // Click a member to stand there.
    browser.value("document.querySelectorAll('.member')[2].click()");
    browser.wait("decodeURIComponent(location.hash).includes('p=q1:2')");
    // What was found is known after the check.
    browser.press("c");
    browser.wait(
        "document.querySelector('#statistics').innerText.includes('symmetry: 4 philosopher: rotations')",
    );
    is_clean(&browser, &served);
}

#[test]
#[ignore = "needs chromium"]
fn a_check_while_it_runs_in_a_browser() {
    let (small, served) = (Served::start("few.pml", FORKS, false), Served::start("many.pml", MANY, false));
    let browser = Browser::start("running");
    browser.size(1440, 900, "light");
    // A model with a hundred million states opens as fast as one with twenty.
    let mut took = Vec::new();
    for address in [&small.address, &served.address, &small.address, &served.address] {
        let started = std::time::Instant::now();
        browser.open(address);
        took.push(started.elapsed());
    }
    println!("23 states: {:?}, {:?}; 10^8 states: {:?}, {:?}", took[0], took[2], took[1], took[3]);
    browser.click("[data-tab=check]");
    browser.press("c");
    browser.wait("document.querySelectorAll('path.curve').length === 4 && document.querySelector('#check-run').innerText.includes('Stop')");
    // Stepping goes on while the check runs.
    browser.press("1");
    browser.wait(&at(1));
    for (width, height, scheme) in WINDOWS {
        browser.size(width, height, scheme);
        browser.wait("document.querySelector('#check-said').innerText.includes('nothing wrong so far')");
        browser.picture(&format!("check-{width}-{scheme}.png"));
    }
    browser.press("Escape");
    browser.wait("document.querySelector('#check-run').innerText.includes('Check')");
    assert!(browser.text("#check-said").contains("undecided"), "{}", browser.text("#check-said"));
    let own = [&small, &served].map(|s| s.address.split("/#").next().unwrap().to_owned());
    assert!(browser.said.borrow().is_empty(), "{:?}", browser.said.borrow());
    assert!(
        browser.requested.borrow().iter().all(|u| u == "about:blank" || own.iter().any(|o| u.starts_with(o)))
    );
}

#[test]
#[ignore = "needs chromium"]
fn every_key_in_a_browser() {
    let served = Served::start("abp.pml", FORGETS, true);
    let browser = Browser::start("keys");
    browser.size(1440, 900, "light");
    browser.open(&served.address);
    let length = browser.value("Number(document.querySelector('#timeline').getAttribute('aria-valuemax'))");
    let length = length.as_u64().unwrap() as usize;
    let press = |key: &str, step: usize| {
        browser.press(key);
        browser.wait(&at(step));
    };
    press("ArrowLeft", length - 1);
    press("h", length - 2);
    press("ArrowRight", length - 1);
    press("l", length);
    // The same process: the receiver fails in the last step and received in the one before.
    press("ArrowUp", length - 1);
    press("j", length);
    press("k", length - 1);
    press("ArrowDown", length);
    press("Home", 0);
    press("End", length);
    press("Home", 0);
    press("1", 1);
    press("Backspace", 0);
    // Statements: each step of this model is one.
    browser.call("Input.dispatchKeyEvent", json!({ "type": "keyDown", "key": "ArrowRight", "modifiers": 8 }));
    browser.wait(&at(1));
    browser.press("b");
    browser.wait("document.querySelectorAll('.bookmark').length === 1");
    browser.press("e");
    browser.wait("document.querySelector('#effects').getAttribute('aria-pressed') === 'true'");
    assert!(browser.text(".row .said").contains("forth!data"), "{}", browser.text(".row .said"));
    browser.press("e");
    browser.press("f");
    browser.wait("document.querySelector('#folding').getAttribute('aria-pressed') === 'true'");
    browser.press("f");
    for (key, title) in
        [("w", "Watch an expression"), ("/", "Find in this run"), ("g", "Go to step"), ("?", "Keys")]
    {
        browser.press(key);
        browser.wait(&format!("document.querySelector('#keys').open && document.querySelector('#keys h2').innerText === '{title}'"));
        browser.value("document.querySelector('#keys').close(); document.activeElement?.blur()");
    }
    // Keys are off while somebody types.
    browser.value("document.querySelector('#filter').focus()");
    browser.press("r");
    browser.press("Escape");
    assert_eq!(browser.value("document.activeElement === document.querySelector('#filter')"), json!(false));
    assert_eq!(browser.value("document.querySelectorAll('.branch').length"), json!(0));
    for tab in ["graph", "reductions", "check", "chart"] {
        browser.press("]");
        browser.wait(&format!(
            "document.querySelector('[data-tab={tab}]').getAttribute('aria-selected') === 'true'"
        ));
        // Every picture is there as text.
        browser.call("Input.dispatchKeyEvent", json!({ "type": "keyDown", "key": "t", "modifiers": 1 }));
        browser.wait("document.querySelector('#keys').open && document.querySelector('.as-text') !== null");
        if tab == "chart" {
            let text = browser.text(".as-text");
            assert!(text.contains("sent in step 1 by sender(0)"), "{text}");
        }
        browser.value("document.querySelector('#keys').close(); document.activeElement?.blur()");
    }
    browser.press("[");
    browser.wait("document.querySelector('[data-tab=check]').getAttribute('aria-selected') === 'true'");
    browser.press("]");
    let theme = browser.value("document.documentElement.dataset.theme ?? null");
    browser.press("t");
    assert_ne!(browser.value("document.documentElement.dataset.theme"), theme);
    browser.press("t");
    browser.press("r");
    browser.wait("document.querySelectorAll('.branch').length === 1");
    browser.press("x");
    browser.wait("document.querySelector('.compare-head') !== null");
    browser.press("Escape");
    browser.wait("document.querySelector('#centre').hidden");
    browser.press("c");
    browser.wait("document.querySelector('#statistics').innerText.includes('states')");
    press("n", length);
    browser.press("N");
    browser.wait(&at(length));
    is_clean(&browser, &served);
}
