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

/// Three that may be exchanged with each other.
pub(crate) const CROWD: &str = "byte where[3];
active [3] proctype P() {
	do
	:: d_step { where[_pid] < 2 -> where[_pid]++ }
	:: d_step { where[_pid] > 0 -> where[_pid] = 0 }
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
    // The view that is open says so as well, at once, with the line that limits it.
    browser.wait("document.querySelector('#centre').innerText.includes('4 philosopher: rotations')");
    browser.click("#centre .limit .step");
    browser.wait("document.querySelector('#source .line.revealed')?.innerText.includes('_pid')");
    is_clean(&browser, &served);
}

/// Where any process may be exchanged with any, it is a table of who plays whom.
#[test]
#[ignore = "needs chromium"]
fn a_class_without_a_ring_in_a_browser() {
    let served = Served::at("crowd.pml", CROWD, "q1:0.1*2");
    let browser = Browser::start("crowd");
    browser.size(1440, 900, "light");
    browser.open(&served.address);
    browser.click("[data-tab=reductions]");
    browser.wait("document.querySelectorAll('.plays .member').length === 6");
    assert!(browser.text("#centre").contains("This state stands for 6."), "{}", browser.text("#centre"));
    browser.picture("crowd-1440-light.png");
    browser.value("document.querySelectorAll('.plays .member')[3].click()");
    browser.wait("!decodeURIComponent(location.hash).includes('p=q1:0.1*2')");
    browser.wait("document.querySelectorAll('.plays .member').length === 6");
    is_clean(&browser, &served);
}

/// A run comes back to a state, also with others in their places; values are pinned; a state of the graph is stood at, and the others stay
/// where they are.
#[test]
#[ignore = "needs chromium"]
fn states_again_pins_and_graph_in_a_browser() {
    let served = Served::at("crowd.pml", CROWD, "q1:0.0+1.1");
    let browser = Browser::start("again");
    browser.size(1440, 900, "light");
    browser.open(&served.address);
    browser.wait("document.querySelector('.again-here')?.innerText.includes('after step 1, with 0→1')");
    browser.press("ArrowLeft");
    browser.wait("document.querySelector('.again-here')?.innerText === 'Same state as start'");
    // Pinned: at the top, along the run.
    browser.click("[data-full='where[1]'] .name");
    browser.wait("[...document.querySelectorAll('#state h3')].some(h => h.innerText === 'Pinned')");
    browser.press("End");
    browser.wait(&at(3));
    assert_eq!(browser.text("[data-full='where[1]'] .held"), "1");
    browser.press("ArrowRight");
    browser.click("[data-tab=graph]");
    browser.wait("document.querySelectorAll('.graph circle.state').length > 7");
    browser.picture("graph-crowd-1440-light.png");
    let places = "Object.fromEntries([...document.querySelectorAll('.graph')[0].querySelectorAll('circle.state')].map(c => [c.dataset.state, `${c.getAttribute('cx')} ${c.getAttribute('cy')}`]))";
    let before = browser.value(places);
    // A state that is not on the run.
    let key = browser.value("document.querySelector('.graph circle.state:not(.on-run)').dataset.state");
    let found = format!("document.querySelector('.graph circle.state[data-state={key}]')");
    browser.value(&format!("{found}.dispatchEvent(new MouseEvent('click', {{ bubbles: true }})); true"));
    browser.wait(&format!("{found}.classList.contains('here')"));
    assert_eq!(browser.value(places), before);
    is_clean(&browser, &served);
}

/// The definitions and the options of a check are part of the address.
#[test]
#[ignore = "needs chromium"]
fn options_are_in_the_address_in_a_browser() {
    let served = Served::start("forks.pml", FORKS, false);
    let browser = Browser::start("options");
    browser.size(1440, 900, "light");
    browser.open(&format!("{}&o=por:off,N:5", served.address));
    assert!(browser.text("#notice").contains("-D N=5"), "{}", browser.text("#notice"));
    browser.click("[data-tab=check]");
    browser.wait("document.querySelector('#check-line')?.innerText.endsWith('--por off')");
    browser.value("(() => { const s = document.querySelector('#option-search'); s.value = 'dfs'; s.dispatchEvent(new Event('change')); })()");
    browser.wait("decodeURIComponent(location.hash).includes('o=search:dfs,por:off')");
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
    press("End", length);
    // Faster than the page can be told: the first step of the start is taken, not one of the end, which has none.
    browser.press("Home");
    press("1", 1);
    press("Home", 0);
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
    browser.same_chance();
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
