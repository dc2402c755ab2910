//! Five questions that the page alone answers, each with the clicks that it takes. `docs/explorer.md` has the same numbers.

use std::cell::Cell;

use crate::devtools::Browser;
use crate::everything::RING;
use crate::served::Served;
use crate::{FORGETS, FORKS};

/// Somebody who clicks, and counts.
struct Clicks<'a>(&'a Browser, Cell<u32>);

impl Clicks<'_> {
    fn on(&self, selector: &str) {
        self.0.click(selector);
        self.1.set(self.1.get() + 1);
    }
}

fn open<'a>(browser: &'a Browser, served: &Served) -> Clicks<'a> {
    browser.size(1440, 900, "light");
    browser.open(&served.address);
    Clicks(browser, Cell::new(0))
}

#[test]
#[ignore = "needs chromium"]
fn five_questions_are_answered_by_clicks_in_a_browser() {
    let (forgets, forks) = (Served::start("abp.pml", FORGETS, true), Served::start("forks.pml", FORKS, true));
    let ring = Served::start("ring.pml", RING, true);
    let browser = Browser::start("questions");

    // Why did it fail? Nothing is clicked: the first line says it, and where the values come from stands below the run.
    let clicks = open(&browser, &forgets);
    assert_eq!(browser.text("h1"), "receiver(1) asserts value == next, but value is 0 and next is 1");
    browser.wait("document.querySelectorAll('#because .origin').length > 1");
    assert!(browser.text("#because").contains("sent in step"), "{}", browser.text("#because"));
    assert_eq!(clicks.1.get(), 0);

    // Who set this value? The step is named beside it; a click on the value tells the rest.
    clicks.on("[data-full='receiver(1).next'] .held");
    browser.wait("document.querySelectorAll('#because > .origin').length === 1");
    assert!(browser.text("#because").contains("set in step 4"), "{}", browser.text("#because"));
    assert_eq!(clicks.1.get(), 1);

    // Why does this process wait? In a deadlock it stands there.
    let clicks = open(&browser, &forks);
    let next = browser.text("#next");
    assert!(next.contains("!taken[right] is false") || next.contains("taken[1]"), "{next}");
    assert_eq!(clicks.1.get(), 0);

    // What else could have happened at step 3? Stand before it: the steps that could be taken, the one of this run marked.
    let clicks = open(&browser, &ring);
    browser.wait("document.querySelectorAll('#chart .row').length > 3");
    // The last statement of step 2, after which step 3 is made.
    clicks.on("#chart .row[data-row='3']");
    browser.wait("document.querySelector('#state-title').innerText === 'State after step 2'");
    browser.wait("document.querySelectorAll('#next .way.can.taken').length === 1");
    let others = browser.value("document.querySelectorAll('#next .way.can:not(.taken)').length");
    assert!(others.as_u64().unwrap() > 0, "{}", browser.text("#next"));
    assert_eq!(clicks.1.get(), 1);

    // Which line stops the symmetry? Reductions names it, and leads there.
    let clicks = open(&browser, &ring);
    clicks.on("[data-tab=reductions]");
    browser.wait("document.querySelector('#centre')?.innerText.includes('Limited')");
    let said = browser.text("#centre");
    assert!(said.contains("ring.pml:") || said.contains("line "), "{said}");
    clicks.on("#centre .limit .step");
    browser.wait("document.querySelector('#source .line.revealed') !== null");
    let line = browser.text("#source .line.revealed");
    assert!(line.contains("_pid"), "{line}");
    assert_eq!(clicks.1.get(), 2);
    assert!(browser.said.borrow().is_empty(), "{:?}", browser.said.borrow());
}
