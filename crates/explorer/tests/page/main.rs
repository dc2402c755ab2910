//! The page in a real browser. These tests need Debian's `chromium`; without it they are ignored, by name: `browser`. `.ci/run` runs them.
//!
//! | what somebody does | test |
//! |---|---|
//! | 1 a newcomer: from one command to the headline, timed | `the_answer_is_the_first_line` |
//! | 2 a deadlock: it opens at the end, the cycle is drawn, each reason is right | `a_deadlock_says_why_everybody_waits`, `graph_reductions_and_check_are_views` |
//! | 3 step, back, branch, undo; the address in a second page | `stepping_branching_and_going_back` |
//! | 4 who set a value: a step that writes it | `who_set_a_value_is_one_click_away`; on all models `values_are_set_where_it_is_said` (of the server's tests) |
//! | 5 watches, also wrong ones | `expressions_are_watched`; of C `a_c_program_is_watched_and_compared` |
//! | 6 a heap along 40 steps: nothing moves | `objects_keep_their_places` |
//! | 7 C: a race, a deadlock | `a_race_of_a_c_program`, `a_deadlock_of_a_c_program`, `a_c_program_is_run_by_a_click_only` |
//! | 8 lasso, folding | `a_lasso_says_what_repeats`, `what_is_repeated_is_folded` |
//! | 9 a long run: scrolled, jumped in, the timeline dragged | `a_long_run_is_shown_in_parts` (`QUOTIENT_LONG_RUN=100000`) |
//! | 10 keys alone, the focus always seen | `two_pages_and_keys_alone`, `every_key` |
//! | 11 420 px, dark, 200 %, forced colours: nothing overlaps | `nothing_overlaps_on_any_window`, `pictures_of_every_view` |
//! | 12 wrong token, Host, Origin; the server ends; the model is edited; two pages | `only_the_own_page_is_answered` (of the server's tests), `a_server_that_has_ended_is_told`, `edits_are_noticed`, `two_pages_and_keys_alone` |
//!
//! All of them end with [`is_clean`]: nothing was said on the console, nobody else was asked.

mod devtools;
mod everything;
mod pictures;
mod programs;
mod questions;
mod served;
mod views;

use devtools::Browser;
use serde_json::json;
use served::Served;

pub(crate) const FORGETS: &str = "mtype = { data, ack };
chan forth = [1] of { mtype, bit, byte };
chan back = [1] of { mtype, bit };
active proctype sender() {
	bit b; byte value;
	do
	:: forth!data(b, value);
	   if
	   :: back?ack(eval(b)) -> b = 1 - b; value = (value + 1) % 4
	   :: back?ack(eval(1 - b)) -> skip
	   :: timeout -> skip
	   fi
	od
}
active proctype receiver() {
	bit b; byte value, next;
	do
	:: forth?data(b, value); assert(value == next); next = (next + 1) % 4; back!ack(b)
	od
}
active proctype thief() { do :: forth?data(_, _) :: back?ack(_) od }
";

const FORKS: &str = "bool taken[2];
active [2] proctype philosopher() {
	byte left = _pid, right = 1 - _pid;
	atomic { !taken[left] -> taken[left] = true };
	atomic { !taken[right] -> taken[right] = true };
	taken[left] = false; taken[right] = false
}
";

pub(crate) const LASSO: &str =
    "bool ready; active proctype P() { do :: ready = 1 - ready od } ltl always_again { <>[]ready }";

/// Are a word of the line that fails, and an element, in sight in the source?
const IN_SIGHT: &str = "(word, beside) => { const pane = document.querySelector('#source').getBoundingClientRect(); \
    const within = b => b && b.left >= pane.left && b.right <= pane.right; \
    const found = [...document.querySelectorAll('.line.fails .keyword')].find(e => e.textContent === word); \
    return within(found?.getBoundingClientRect()) && within(document.querySelector(beside)?.getBoundingClientRect()); }";

/// Nothing went wrong in the page, and it asked nobody else.
fn is_clean(browser: &Browser, served: &Served) {
    browser.value("1");
    assert!(browser.said.borrow().is_empty(), "{:?}", browser.said.borrow());
    let own = served.address.split("/#").next().unwrap();
    let others: Vec<String> =
        browser.requested.borrow().iter().filter(|u| !u.starts_with(own)).cloned().collect();
    assert!(others.is_empty(), "{others:?}");
}

#[test]
#[ignore = "needs chromium"]
fn the_answer_is_the_first_line_in_a_browser() {
    let served = Served::start("abp.pml", FORGETS, true);
    let browser = Browser::start("answer");
    for (width, height, scheme) in
        [(1440, 900, "light"), (1440, 900, "dark"), (420, 840, "light"), (420, 840, "dark")]
    {
        browser.size(width, height, scheme);
        browser.open(&served.address);
        assert_eq!(browser.text("h1"), "receiver(1) asserts value == next, but value is 0 and next is 1");
        let drawn = browser.value("performance.getEntriesByName('first-picture')[0].startTime");
        println!("{width} {scheme}: the first picture after {drawn} ms");
        assert!(drawn.as_f64().unwrap() < 10_000.0, "{drawn} ms");
        browser.wait("document.querySelectorAll('#because .origin').length > 0");
        browser.picture(&format!("assertion-{width}-{scheme}.png"));
    }
    // The token is not left in the address.
    assert_eq!(browser.value("location.hash.includes('k=')"), json!(false));
    is_clean(&browser, &served);
}

/// Where a line is longer than its column, what fails is brought into sight, and the line's number stays there.
#[test]
#[ignore = "needs chromium"]
fn what_fails_in_a_long_line_is_in_sight_in_a_browser() {
    let text = "active proctype P() { byte first, second, third; first = 1; second = 2; third = 3; assert(first == third) }";
    let served = Served::start("long.pml", text, true);
    let browser = Browser::start("across");
    browser.size(1440, 900, "light");
    browser.open(&served.address);
    browser.wait(&format!("({IN_SIGHT})('assert', '.line.fails .no')"));
    // The beginning is in sight without that.
    browser.press("Home");
    browser.wait("document.querySelector('#source').scrollLeft === 0");
    is_clean(&browser, &served);
}

#[test]
#[ignore = "needs chromium"]
fn stepping_branching_and_going_back_in_a_browser() {
    let served = Served::start("abp.pml", FORGETS, true);
    let browser = Browser::start("steps");
    browser.size(1440, 900, "light");
    browser.open(&served.address);
    let length = browser.value("Number(document.querySelector('#timeline').getAttribute('aria-valuemax'))");
    let at = |n: u64| format!("document.querySelector('#timeline').getAttribute('aria-valuenow') === '{n}'");
    for _ in 0..3 {
        browser.press("ArrowLeft");
    }
    browser.wait(&at(length.as_u64().unwrap() - 3));
    browser.press("Home");
    browser.wait(&at(0));
    assert_eq!(browser.text("#state-title"), "State at the start");
    browser.press("1");
    browser.wait(&at(1));
    assert!(browser.text("#state").contains("forth"));
    // Another step than the run's: a branch; the browser's back takes it back.
    browser.wait("document.querySelectorAll('#next .way.can:not(.taken)').length > 0");
    browser.click("#next .way.can:not(.taken)");
    browser.wait("document.querySelector('#timeline').getAttribute('aria-valuemax') === '2'");
    let address = browser.value("location.href");
    browser.press("Backspace");
    browser
        .wait(&format!("document.querySelector('#timeline').getAttribute('aria-valuemax') === '{length}'"));
    // The address of the branch, opened again, gives the same picture.
    let picture = "document.querySelector('#state').innerText + document.querySelector('#next').innerText + document.querySelector('h1').innerText";
    let second = Browser::start("steps-again");
    second.size(1440, 900, "light");
    let place = address.as_str().unwrap().split_once('#').unwrap().1;
    second.open(&format!("{}&{place}", served.address));
    second.wait("document.querySelector('#timeline')?.getAttribute('aria-valuemax') === '2'");
    // Forward again in the first page: the branch; the two pages show the same.
    browser.value("history.forward(); true");
    browser.wait("document.querySelector('#timeline').getAttribute('aria-valuemax') === '2'");
    browser.wait("!document.querySelector('#state').innerText.includes('…')");
    assert_eq!(second.value(picture), browser.value(picture));
    // The old future is still there, one click away.
    assert_eq!(browser.value("document.querySelectorAll('.branch').length"), json!(1));
    browser.value(
        "document.querySelector('.branch').dispatchEvent(new MouseEvent('click', { bubbles: true })); true",
    );
    browser
        .wait(&format!("document.querySelector('#timeline').getAttribute('aria-valuemax') === '{length}'"));
    is_clean(&browser, &served);
    is_clean(&second, &served);
}

#[test]
#[ignore = "needs chromium"]
fn a_deadlock_says_why_everybody_waits_in_a_browser() {
    let served = Served::start("forks.pml", FORKS, true);
    let browser = Browser::start("deadlock");
    browser.size(1440, 900, "light");
    browser.open(&served.address);
    let said = "Nobody can go on: philosopher(0) waits for philosopher(1), which waits for philosopher(0)";
    assert_eq!(browser.text("h1"), said);
    let next = browser.text("#next");
    assert!(next.contains("taken[1]") && next.contains("taken[0]"), "{next}");
    // Each reason names the step that made it so, and leads there.
    browser.click("#next .waits .step");
    browser.wait("document.querySelectorAll('#state .change').length > 0");
    browser.picture("deadlock-1440-light.png");
    is_clean(&browser, &served);
}

#[test]
#[ignore = "needs chromium"]
fn who_set_a_value_is_one_click_away_in_a_browser() {
    let served = Served::start("abp.pml", FORGETS, true);
    let browser = Browser::start("set");
    browser.size(1440, 900, "light");
    browser.open(&served.address);
    let find = "[...document.querySelectorAll('.leaf')].find(l => l.dataset.full === 'receiver(1).next')";
    let step = browser.value(&format!("{find}.querySelector('.step').innerText"));
    browser.value(&format!("{find}.querySelector('.step').click()"));
    let number = step.as_str().unwrap().trim_start_matches("step ").to_owned();
    browser
        .wait(&format!("document.querySelector('#timeline').getAttribute('aria-valuenow') === '{number}'"));
    let changed = browser.text("#state .change");
    assert!(changed.contains("receiver(1).next"), "{changed}");
    is_clean(&browser, &served);
}

#[test]
#[ignore = "needs chromium"]
fn a_lasso_says_what_repeats_in_a_browser() {
    let served = Served::start("lasso.pml", LASSO, true);
    let browser = Browser::start("lasso");
    browser.size(1440, 900, "light");
    browser.open(&served.address);
    assert!(browser.text("h1").contains("does not hold: step"), "{}", browser.text("h1"));
    assert!(browser.text("h1").ends_with("for ever"), "{}", browser.text("h1"));
    assert!(browser.value("document.querySelectorAll('.row.again').length") != json!(0));
    browser.picture("lasso-1440-light.png");
    is_clean(&browser, &served);
    // What no cycle shows: the run itself does not say what is wrong with it.
    let text = "byte x; active proctype P() { x = 1; x = 2; x = 3 } ltl small { [] (x < 2) }";
    let served = Served::start("formula.pml", text, true);
    browser.requested.borrow_mut().clear();
    browser.open(&served.address);
    let said = browser.text("h1");
    assert!(
        said.contains("x < 2") && said.contains(" does not hold: that is certain after step 2"),
        "{said}"
    );
    is_clean(&browser, &served);
}

/// Regions that lie over each other.
pub(crate) const OVERLAPS: &str = "(() => { const shown = ['header', '#headline', 'nav', 'main', 'footer'].map(s => document.querySelector(s)).filter(e => e.getClientRects().length > 0); \
    const boxes = shown.map(e => e.getBoundingClientRect()); \
    return boxes.some((a, i) => boxes.slice(i + 1).some(b => a.bottom > b.top + 1 && b.bottom > a.top + 1 && a.right > b.left + 1 && b.right > a.left + 1)); })()";

/// Texts that lie over each other, as far as they are in sight: each with its boxes, cut by what scrolls around it. One that is hidden
/// behind what the other stands on is not in sight.
pub(crate) const TEXTS_OVERLAP: &str = "(() => { const boxes = []; const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT); \
    for (let node = walker.nextNode(); node; node = walker.nextNode()) { \
      if (!node.textContent.trim() || node.parentElement.closest('dialog, option, script, title')) continue; \
      const range = document.createRange(); range.selectNodeContents(node); \
      for (const rect of range.getClientRects()) { \
        let [l, t, r, b] = [rect.left, rect.top, rect.right, rect.bottom]; \
        for (let e = node.parentElement; e; e = e.parentElement) { const s = getComputedStyle(e); if (s.overflow !== 'visible') { const c = e.getBoundingClientRect(); [l, t, r, b] = [Math.max(l, c.left), Math.max(t, c.top), Math.min(r, c.right), Math.min(b, c.bottom)]; } } \
        if (r - l > 1 && b - t > 1) boxes.push({ l, t, r, b, node, text: node.textContent.trim().slice(0, 30) }); \
      } } \
    const covered = (a, c) => { \
      for (let e = document.elementFromPoint((Math.max(a.l, c.l) + Math.min(a.r, c.r)) / 2, (Math.max(a.t, c.t) + Math.min(a.b, c.b)) / 2); e; e = e.parentElement) { \
        if (e.contains(a.node) && e.contains(c.node)) return false; \
        if ((e.contains(a.node) || e.contains(c.node)) && /^rgb\\(/.test(getComputedStyle(e).backgroundColor)) return true; \
      } return false }; \
    const out = []; \
    for (let i = 0; i < boxes.length; i++) for (let j = i + 1; j < boxes.length; j++) { const [a, c] = [boxes[i], boxes[j]]; \
      if (a.node !== c.node && Math.min(a.r, c.r) - Math.max(a.l, c.l) > 2 && Math.min(a.b, c.b) - Math.max(a.t, c.t) > 5 && !covered(a, c)) out.push(`${a.text} | ${c.text}`); } \
    return out.slice(0, 5); })()";

#[test]
#[ignore = "needs chromium"]
fn nothing_overlaps_on_any_window_in_a_browser() {
    let served = Served::start("abp.pml", FORGETS, true);
    let browser = Browser::start("narrow");
    let fits = |what: &str| {
        let wider = browser.value("document.documentElement.scrollWidth > innerWidth");
        assert_eq!(wider, json!(false), "{what}");
        assert_eq!(browser.value(OVERLAPS), json!(false), "{what}");
        assert_eq!(browser.value(TEXTS_OVERLAP), json!([]), "{what}");
    };
    for view in ["chart", "source", "state", "next"] {
        browser.size(420, 840, "dark");
        browser.open(&served.address);
        browser.click(&format!("nav .tab[data-view={view}]"));
        fits(view);
        browser.picture(&format!("narrow-{view}.png"));
    }
    // At 200 % a usual window has half as many of the page's pixels.
    for view in ["chart", "source", "state", "next"] {
        browser.zoomed(1440, 900, 2, "light");
        browser.open(&served.address);
        browser.click(&format!("nav .tab[data-view={view}]"));
        fits(&format!("zoom, {view}"));
        browser.picture(&format!("zoom-{view}.png"));
    }
    browser.size(1000, 700, "light");
    browser.open(&served.address);
    browser.click("nav .tab[data-view=source]");
    fits("middle");
    browser.picture("middle-source.png");
    browser.size(1440, 900, "light");
    browser.forced_colours();
    browser.open(&served.address);
    fits("forced colours");
    browser.picture("forced-colours.png");
    is_clean(&browser, &served);
}

#[test]
#[ignore = "needs chromium"]
fn a_server_that_has_ended_is_told_in_a_browser() {
    let served = Served::start("abp.pml", FORGETS, true);
    let browser = Browser::start("ended");
    browser.size(1440, 900, "light");
    browser.open(&served.address);
    drop(served);
    browser.press("ArrowLeft");
    // Its process goes on, so that an open connection may just be silent.
    browser.wait("document.querySelector('#notice').innerText.includes('This page still shows what it has')");
    let said = browser.text("#notice");
    assert!(said.contains("The server has ended") || said.contains("has not answered for"), "{said}");
}
