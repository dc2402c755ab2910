//! C programs: a race, a deadlock, and that nothing is run before somebody clicks.

use std::path::PathBuf;

use serde_json::json;

use crate::devtools::Browser;
use crate::is_clean;
use crate::served::Served;

/// The headline of `lock_order_inversion.c`.
const STUCK: &str = "Nobody can go on: T1 first waits for right, which T2 second holds, T2 second for left, which T1 first holds";

fn model(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/c").join(name)
}

/// Asks the server as the page does.
fn runs(browser: &Browser) -> u64 {
    let asked = browser.value(
        "fetch('/api/info', { method: 'POST', headers: { 'X-Quotient-Token': sessionStorage.getItem('quotient-token') }, body: '{}' }).then(a => a.json()).then(i => i.program.runs)",
    );
    asked.as_u64().unwrap()
}

#[test]
#[ignore = "needs chromium"]
fn a_race_of_a_c_program_in_a_browser() {
    let served = Served::program(&model("counter_race.c"), true);
    let browser = Browser::start("race");
    for (width, height, scheme) in
        [(1440, 900, "light"), (1440, 900, "dark"), (420, 840, "light"), (420, 840, "dark")]
    {
        browser.size(width, height, scheme);
        browser.open(&served.address);
        assert_eq!(
            browser.text("h1"),
            "T1 worker writes counter while T2 worker reads it: nothing orders the two"
        );
        // The two accesses are the last rows, joined by a line, each with its stack.
        browser.wait("document.querySelectorAll('path.race').length === 1");
        browser.wait(
            "[...document.querySelectorAll('.row.fails .said')].every(e => e.innerText.includes('counter'))",
        );
        let rows = browser.value("[...document.querySelectorAll('.row.fails .said')].map(e => e.innerText)");
        let rows = rows.as_array().unwrap();
        assert_eq!(rows.len(), 2, "{rows:?}");
        assert!(rows[0].as_str().unwrap().contains("writes counter"), "{rows:?}");
        assert!(rows[1].as_str().unwrap().contains("reads counter"), "{rows:?}");
        let stacks = browser.text("#because");
        assert_eq!(stacks.matches("counter_race.c:11").count(), 2, "{stacks}");
        browser.picture(&format!("c-race-{width}-{scheme}.png"));
    }
    is_clean(&browser, &served);
}

#[test]
#[ignore = "needs chromium"]
fn a_deadlock_of_a_c_program_in_a_browser() {
    let served = Served::program(&model("lock_order_inversion.c"), true);
    let browser = Browser::start("c-deadlock");
    for (width, height, scheme) in
        [(420, 840, "light"), (420, 840, "dark"), (1440, 900, "dark"), (1440, 900, "light")]
    {
        browser.size(width, height, scheme);
        browser.open(&served.address);
        assert_eq!(browser.text("h1"), STUCK);
        // Two locks are held, drawn as bars; who waits has a dashed line to the holder.
        assert_eq!(browser.value("document.querySelectorAll('rect.holds').length"), json!(2));
        assert_eq!(browser.value("document.querySelectorAll('line.waits.wrong').length"), json!(2));
        browser.picture(&format!("c-deadlock-{width}-{scheme}.png"));
    }
    assert!(browser.text(".who-waits h3").contains("each other"));
    let next = browser.text("#next");
    assert!(
        next.contains("right is held by T2 second") && next.contains("left is held by T1 first"),
        "{next}"
    );
    assert!(browser.text("#state").contains("held by T1 first"), "{}", browser.text("#state"));
    assert!(
        browser.text("#debug code").ends_with("--schedule 'q1:0*2.1.2' --gdb 4"),
        "{}",
        browser.text("#debug code")
    );
    // A step back runs the beginning again, and says who could have gone on.
    browser.press("ArrowLeft");
    browser.wait("document.querySelectorAll('#next .way.can').length > 1");
    assert!(runs(&browser) > 0);
    // Another step than the run's: the first thread takes both locks.
    browser.click("#next .way.can:not(.taken)");
    browser.wait("!document.querySelector('h1').innerText.startsWith('Nobody can go on')");
    browser.wait("document.querySelectorAll('.branch').length === 1");
    is_clean(&browser, &served);
}

#[test]
#[ignore = "needs chromium"]
fn a_c_program_is_run_by_a_click_only_in_a_browser() {
    let token = "q1:0*2.1.2".parse().unwrap();
    let served = Served::program_at(&model("lock_order_inversion.c"), false, token);
    let browser = Browser::start("click");
    browser.size(1440, 900, "light");
    browser.open(&served.address);
    assert!(browser.text("h1").contains("has not been run"), "{}", browser.text("h1"));
    // The address with a place in it, opened in a new page, runs nothing either.
    browser.open(&format!("{}&p=q1:0*2.1&s=2", served.address));
    assert!(browser.text("h1").contains("has not been run"), "{}", browser.text("h1"));
    browser.wait("document.querySelectorAll('#source .line').length > 10");
    assert_eq!(runs(&browser), 0);
    browser.picture("c-not-run-1440-light.png");
    browser.click("#run-here");
    browser.wait("document.querySelector('#timeline').getAttribute('aria-valuemax') === '3'");
    assert!(runs(&browser) > 0);
    // A check is started by a click as well; the bar leads to what it found.
    browser.press("c");
    browser.wait("document.querySelector('#notice').innerText.includes('nobody can go on')");
    browser.press("n");
    browser.wait(&format!("document.querySelector('h1').innerText === '{STUCK}'"));
    is_clean(&browser, &served);
}

/// Expressions of C over what the run has named, with their values along it; and the nearest run that passes, which is another one and comes to its end.
#[test]
#[ignore = "needs chromium"]
fn a_c_program_is_watched_and_compared_in_a_browser() {
    let served = Served::program(&model("counter_load_store.c"), true);
    let browser = Browser::start("c-watch");
    browser.size(1440, 900, "light");
    browser.open(&served.address);
    let watch = |text: &str| {
        browser.press("w");
        browser.wait("document.querySelector('#keys').open");
        browser.value(&format!(
            "(() => {{ document.querySelector('#keys input').value = '{text}'; document.querySelector('#keys button').click(); }})()"
        ));
        let said = format!("(document.querySelector('[data-watch=\"{text}\"] .held')?.innerText ?? '…')");
        browser.wait(&format!("{said} !== '…'"));
        browser.value(&said).as_str().unwrap().to_owned()
    };
    let value = watch("counter");
    assert_eq!(watch("counter + 1"), (value.parse::<i64>().unwrap() + 1).to_string());
    assert_eq!(watch(&format!("counter == {value}")), "true");
    assert!(watch("counter +").contains("column"), "a wrong expression names the place");
    assert!(watch("nobody").contains("has not named `nobody`"));
    // The step that set it leads to a step after which it has this value.
    browser.click("[data-watch=\"counter\"] .step:not([aria-label])");
    browser.wait("document.querySelector('#state .change') !== null");
    assert!(browser.text("#state .change").contains("counter"), "{}", browser.text("#state .change"));
    browser.picture("c-watch-1440-light.png");
    browser.press("End");
    // On a busy machine the time may be over before it is found; what was run is known when it is asked for again.
    let found = "document.querySelectorAll('.compared.first').length === 2";
    for _ in 0..6 {
        browser.press("x");
        browser.wait(&format!(
            "{found} || document.querySelector('#notice').innerText.startsWith('No run found that passes (')"
        ));
        if browser.value(found) == json!(true) {
            break;
        }
        browser.press("Escape");
    }
    browser.wait(found);
    let said = browser.text("#centre");
    assert!(said.contains("a run that passes") && said.contains("comes to its end"), "{said}");
    browser.picture("c-compare-1440-light.png");
    is_clean(&browser, &served);
}

/// C programs of others, in the folder that `QUOTIENT_STRANGERS_C` names: those in which a check finds something open at it, with a headline
/// and without an error of the page; the others open at their start and are run by a click.
#[test]
#[ignore = "needs chromium and a folder of programs"]
fn programs_of_strangers_open() {
    let folder = std::env::var_os("QUOTIENT_STRANGERS_C").expect("QUOTIENT_STRANGERS_C names a folder");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let browser = Browser::start("strangers-c");
    browser.size(1440, 900, "light");
    let mut opened = 0;
    for file in &files {
        let found = Served::found_in(file);
        let at_its_start = found.is_none();
        let served = found.unwrap_or_else(|| Served::program(file, false));
        browser.requested.borrow_mut().clear();
        browser.open(&served.address);
        if at_its_start {
            assert!(browser.text("h1").contains("has not been run"), "{}", browser.text("h1"));
            browser.click("#run-here");
            browser.wait("!document.querySelector('h1').innerText.includes('has not been run') || !document.querySelector('#notice').hidden");
        }
        let said = browser.text("h1");
        if said.contains("has not been run") {
            // The browser itself notes that the question was refused.
            browser.said.borrow_mut().retain(|said| !said.contains("status of 422"));
            println!("{}: refused: {}", file.display(), browser.text("#notice"));
            browser.leave();
            is_clean(&browser, &served);
            continue;
        }
        if at_its_start {
            browser.press("1");
            browser.wait("document.querySelector('#timeline').getAttribute('aria-valuenow') === '1'");
        }
        let length =
            browser.value("Number(document.querySelector('#timeline').getAttribute('aria-valuemax'))");
        for _ in 0..3 {
            browser.press("ArrowLeft");
        }
        let length = length.as_u64().unwrap();
        browser.wait(&format!(
            "document.querySelector('#timeline').getAttribute('aria-valuenow') === '{}'",
            length.saturating_sub(3)
        ));
        browser.wait("document.querySelector('#next').innerText !== ''");
        browser.press("End");
        browser.leave();
        is_clean(&browser, &served);
        println!("{}: {length} steps: {said}", file.display());
        opened += 1;
    }
    assert!(opened >= 5, "{opened} programs opened");
}
