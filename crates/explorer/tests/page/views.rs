//! The views beyond stepping: watches, comparison, folding, heap, graph, reductions, check, edits, long runs.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::devtools::Browser;
use crate::served::Served;
use crate::{FORGETS, FORKS, is_clean};

const COUNTS: &str = "byte x; active [2] proctype P() { do :: x < 3 -> x++ :: x > 0 -> x-- od }";

const LOOPS: &str = "byte n; active proctype P() { do :: n < 20 -> n++; printf(\"n\") :: n == 20 -> break od; assert(n == 0) }";

fn at(step: usize) -> String {
    format!("document.querySelector('#timeline').getAttribute('aria-valuenow') === '{step}'")
}

/// Opens a page of a wide window.
fn open(name: &str, served: &Served) -> Browser {
    let browser = Browser::start(name);
    browser.size(1440, 900, "light");
    browser.open(&served.address);
    browser
}

/// Answers a question that the page asks in a dialogue.
fn answer(browser: &Browser, key: &str, text: &str) {
    browser.press(key);
    browser.wait("document.querySelector('#keys').open");
    browser.value("document.querySelector('#keys input').value = ''");
    browser.type_text(text);
    browser.press("Enter");
    browser.wait("!document.querySelector('#keys').open");
}

#[test]
#[ignore = "needs chromium"]
fn expressions_are_watched_in_a_browser() {
    let served = Served::start("abp.pml", FORGETS, true);
    let browser = open("watch", &served);
    answer(&browser, "w", "receiver:value == receiver:next");
    let value = "document.querySelector('[data-watch] .held')?.innerText";
    browser.wait(&format!("{value} === 'false'"));
    browser.press("Home");
    browser.wait(&at(0));
    browser.wait(&format!("{value} === 'true'"));
    // A wrong one is told at its place, with the column.
    answer(&browser, "w", "len(nowhere) > 0");
    browser.wait("document.querySelector('#watches').innerText.includes('column')");
    browser.picture("watch-1440-light.png");
    // It can be taken away again.
    browser.value("document.querySelectorAll('[data-watch] button[aria-label]')[1].click()");
    browser.wait("document.querySelectorAll('[data-watch]').length === 1");
    is_clean(&browser, &served);
}

#[test]
#[ignore = "needs chromium"]
fn runs_are_compared_and_searched_in_a_browser() {
    let served = Served::start("abp.pml", FORGETS, true);
    let browser = open("compare", &served);
    browser.press("x");
    browser.wait("document.querySelectorAll('.compared.first').length === 2 || document.querySelector('#notice').innerText.includes('No run found')");
    browser.picture("compare-1440-light.png");
    browser.press("Escape");
    browser.wait("document.querySelector('#centre').hidden");
    // What is looked for is found backwards and forwards.
    browser.press("Home");
    browser.wait(&at(0));
    answer(&browser, "/", "thief");
    browser.wait("Number(document.querySelector('#timeline').getAttribute('aria-valuenow')) > 0");
    browser.wait("document.querySelectorAll('.row.now')[0].getAttribute('aria-label')?.includes('thief')");
    // A bookmark stays where it was set.
    browser.press("b");
    browser.wait("document.querySelectorAll('.bookmark').length === 1");
    // A random walk leaves the run, which is kept as a branch, and can be compared with it.
    browser.same_chance();
    browser.press("r");
    browser.wait("document.querySelectorAll('.branch').length === 1");
    browser.press("x");
    browser.wait("document.querySelector('.compare-head p') !== null");
    let said = browser.text(".compare-head p");
    assert!(said.contains("the same") && said.contains("left last"), "{said}");
    is_clean(&browser, &served);
}

#[test]
#[ignore = "needs chromium"]
fn what_is_repeated_is_folded_in_a_browser() {
    let served = Served::start("loops.pml", LOOPS, true);
    let browser = open("fold", &served);
    let rows = "document.querySelector('.rows').offsetHeight";
    let before = browser.value(rows).as_u64().unwrap();
    browser.press("f");
    browser.wait("document.querySelectorAll('.fold').length > 0");
    let folded = browser.value(rows).as_u64().unwrap();
    assert!(folded * 2 < before, "{folded} of {before}");
    assert!(browser.text(".fold").contains('×'), "{}", browser.text(".fold"));
    browser.picture("folded-1440-light.png");
    // Unfolded in place.
    browser.click(".fold");
    browser.wait(&format!("{rows} > {folded}"));
    is_clean(&browser, &served);
}

#[test]
#[ignore = "needs chromium"]
fn objects_keep_their_places_in_a_browser() {
    let served = Served::walked("models/dining_philosophers.bir", 40, 3);
    let browser = open("heap", &served);
    browser.wait("!document.querySelector('[data-tab=heap]').hidden");
    browser.click("[data-tab=heap]");
    browser.wait("document.querySelector('#centre .space') !== null");
    let places = "Object.fromEntries([...document.querySelectorAll('.object')].map(o => [o.dataset.node, o.style.transform]))";
    let mut known: serde_json::Map<String, Value> = serde_json::Map::new();
    let mut most = 0;
    let length = browser.value("Number(document.querySelector('#timeline').getAttribute('aria-valuemax'))");
    for step in 0..=length.as_u64().unwrap() as usize {
        browser.wait(&at(step));
        browser.wait(&format!("document.querySelector('#centre .space')?.dataset.at === '{step}'"));
        let shown = browser.value(places);
        for (node, place) in shown.as_object().unwrap() {
            let before = known.entry(node.clone()).or_insert_with(|| place.clone());
            assert_eq!(before, place, "{node} moves in step {step}");
        }
        most = most.max(shown.as_object().unwrap().len());
        browser.press("ArrowRight");
    }
    assert!(most > 3, "{most} nodes");
    browser.picture("heap-1440-light.png");
    // Boxes do not lie over each other.
    let overlaps = browser.value(
        "(() => { const b = [...document.querySelectorAll('.object')].map(o => o.getBoundingClientRect()); \
         return b.some((a, i) => b.slice(i + 1).some(c => a.left < c.right && c.left < a.right && a.top < c.bottom && c.top < a.bottom)); })()",
    );
    assert_eq!(overlaps, json!(false));
    is_clean(&browser, &served);
}

#[test]
#[ignore = "needs chromium"]
fn graph_reductions_and_check_are_views_in_a_browser() {
    let served = Served::start("forks.pml", FORKS, true);
    let browser = open("views", &served);
    // Who waits for whom.
    assert!(browser.text(".who-waits h3").contains("each other"));
    assert!(browser.value("document.querySelectorAll('.wait.wrong').length") == json!(2));
    browser.press("]");
    browser.wait("document.querySelectorAll('.graph circle.state').length > 5");
    assert!(browser.text("#centre p").contains("All"), "{}", browser.text("#centre p"));
    // The figures of the check have taken room from the timeline, which is drawn for what it has.
    browser.wait("document.querySelector('#timeline svg').getBoundingClientRect().width <= document.querySelector('#timeline').clientWidth + 1");
    browser.picture("graph-1440-light.png");
    browser.press("Home");
    browser.wait(&at(0));
    browser.press("]");
    browser.wait("document.querySelector('#centre h3')?.innerText.includes('Partial order')");
    browser.picture("reductions-1440-light.png");
    browser.press("]");
    browser.wait("document.querySelector('#check-run') !== null");
    browser.value("(() => { const s = document.querySelector('#option-por'); s.value = 'off'; s.dispatchEvent(new Event('change')); })()");
    assert!(browser.text("#check-line").ends_with("--por off"), "{}", browser.text("#check-line"));
    browser.click("#check-run");
    browser.wait("document.querySelector('.report')?.innerText.includes('deadlock') && document.querySelector('#statistics').innerText.includes('partial order off')");
    browser.picture("check-1440-light.png");
    is_clean(&browser, &served);
}

#[test]
#[ignore = "needs chromium"]
fn edits_are_noticed_in_a_browser() {
    let text = Arc::new(Mutex::new(FORGETS.to_owned()));
    let served = Served::edited("abp.pml", &text, true);
    let browser = open("edits", &served);
    *text.lock().unwrap() = FORGETS.replace("value = (value + 1) % 4", "value = (value + 2) % 4");
    browser.wait("document.querySelector('#notice').innerText.includes('this run still works')");
    *text.lock().unwrap() = FORGETS.replace("active proctype thief", "proctype thief");
    browser.wait("document.querySelector('#notice').innerText.includes('stops working at step')");
    browser.picture("edited-1440-light.png");
    *text.lock().unwrap() = "nonsense".to_owned();
    browser.wait("document.querySelector('#notice').innerText.includes('cannot be read')");
    *text.lock().unwrap() = FORGETS.replace("value == next", "value == next && b < 2");
    browser.wait("document.querySelector('#reload') !== null");
    browser.click("#reload");
    browser.wait("document.querySelector('h1').innerText.includes('b < 2')");
    browser.wait("document.querySelector('#notice').hidden");
    is_clean(&browser, &served);
}

#[test]
#[ignore = "needs chromium"]
fn two_pages_and_keys_alone_in_a_browser() {
    let served = Served::start("abp.pml", FORGETS, true);
    let (one, two) = (open("one", &served), open("two", &served));
    one.press("Home");
    one.wait(&at(0));
    two.press("ArrowLeft");
    let step = "document.querySelector('#timeline').getAttribute('aria-valuenow')";
    assert_eq!(one.value(step), json!("0"));
    // Everything that a mouse can do here: a step, another one, back, undo, a view.
    one.press("1");
    one.wait(&at(1));
    one.press("2");
    one.wait("document.querySelector('#timeline').getAttribute('aria-valuemax') === '2'");
    one.press("ArrowLeft");
    one.wait(&at(1));
    one.press("Backspace");
    one.wait(&at(2));
    // The focus is always to be seen.
    for _ in 0..12 {
        one.press("Tab");
        let seen = one.value(
            "(() => { const e = document.activeElement; if (!e || e === document.body) return true; const s = getComputedStyle(e); return e.matches(':focus-visible') && s.outlineStyle !== 'none'; })()",
        );
        assert_eq!(seen, json!(true), "{}", one.value("document.activeElement.outerHTML"));
    }
    two.wait("Number(document.querySelector('#timeline').getAttribute('aria-valuenow')) > 0");
    is_clean(&one, &served);
    is_clean(&two, &served);
}

/// How long a key takes until the page has answered it and is laid out, in the page's own clock.
fn timed(browser: &Browser, key: &str) -> f64 {
    let script = format!(
        "(async () => {{ const t = document.querySelector('#state-title'); \
         const done = new Promise(r => new MutationObserver((_, o) => {{ o.disconnect(); r() }}).observe(t, {{ childList: true, characterData: true, subtree: true }})); \
         const start = performance.now(); document.dispatchEvent(new KeyboardEvent('keydown', {{ key: '{key}', bubbles: true }})); await done; \
         await new Promise(r => queueMicrotask(r)); document.body.offsetHeight; document.querySelector('#chart').scrollHeight; return performance.now() - start; }})()"
    );
    browser.value(&script).as_f64().unwrap()
}

/// A long run: a window of it is in the page, whatever its length. `QUOTIENT_LONG_RUN` sets how many steps.
#[test]
#[ignore = "needs chromium"]
fn a_long_run_is_shown_in_parts_in_a_browser() {
    let steps = quotient_testing::setting("QUOTIENT_LONG_RUN", 5_000) as usize;
    let served = Served::walk_of("counts.pml", &Arc::new(Mutex::new(COUNTS.to_owned())), steps, 1);
    let browser = Browser::start("long");
    browser.size(1440, 900, "light");
    browser.watch_tasks();
    let started = std::time::Instant::now();
    browser.open(&served.address);
    // In the page's clock: from the beginning of the navigation to the first picture.
    let opened =
        browser.value("performance.getEntriesByName('first-picture')[0].startTime").as_f64().unwrap();
    // The first part of it is there at once, the rest follows.
    browser.wait(&format!("document.querySelector('#timeline').getAttribute('aria-valuemax') === '{steps}'"));
    let whole = started.elapsed();
    browser.press("End");
    browser.wait(&at(steps));
    browser.call("Performance.enable", json!({ "timeDomain": "threadTicks" }));
    let metric = |name: &str| {
        let all = browser.call("Performance.getMetrics", json!({}));
        let found = all["metrics"].as_array().unwrap().iter().find(|m| m["name"] == name).unwrap();
        found["value"].as_f64().unwrap()
    };
    // What the page's own thread works, and what the server works, in CPU time: a busy machine does not count.
    let own = || {
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) * 10.0
    };
    let parts = ["TaskDuration", "ScriptDuration", "LayoutDuration", "RecalcStyleDuration"];
    let (page, server) = (parts.map(metric), own());
    let mut took: Vec<f64> = (0..20).map(|_| timed(&browser, "ArrowLeft")).collect();
    browser.wait(&at(steps - 20));
    println!(
        "a step takes, in ms of the page's CPU time, {:?}, and {:.1} ms of the server's; the page's scripts hold {:.1} MB",
        parts
            .iter()
            .zip(page)
            .map(|(name, before)| format!("{name} {:.1}", (metric(name) - before) * 50.0))
            .collect::<Vec<_>>(),
        (own() - server) / 20.0,
        metric("JSHeapUsedSize") / 1e6
    );
    took.sort_by(f64::total_cmp);
    // Another step at the end of all that: only what is new is asked for.
    browser.press("End");
    browser.wait(&at(steps));
    browser.wait("document.querySelectorAll('#next .way.can').length > 0");
    let (page, server) = (parts.map(metric), own());
    let mut further: Vec<f64> = Vec::new();
    for new in 1..=5 {
        further.push(timed(&browser, "1"));
        browser.wait(&at(steps + new));
        browser.wait("document.querySelectorAll('#next .way.can').length > 0");
    }
    println!(
        "a new step takes {further:.1?} ms; in ms of the page's CPU time, {:.1} (scripts {:.1}), and {:.1} ms of the server's",
        (metric(parts[0]) - page[0]) * 200.0,
        (metric(parts[1]) - page[1]) * 200.0,
        (own() - server) / 5.0
    );
    further.sort_by(f64::total_cmp);
    let rows = browser.value("document.querySelectorAll('.row').length").as_u64().unwrap();
    assert!((5..200).contains(&rows), "{rows} rows in the page");
    let lines = browser.value("document.querySelectorAll('#source .line').length").as_u64().unwrap();
    assert!(lines < 200, "{lines} lines in the page");
    // Jumps all over it do not make the page grow.
    for jump in 0..30 {
        let to = (jump * 7919) % steps;
        browser.value(&format!("document.querySelector('#chart').scrollTop = {to} * 36; true"));
        browser.wait("document.querySelectorAll('.row .said').length > 5 && ![...document.querySelectorAll('.row .said')].some(e => e.innerText === '…')");
    }
    // The timeline is dragged: the page stands where the pointer is let go.
    let edges = browser.value(
        "(() => { const b = document.querySelector('#timeline').getBoundingClientRect(); return [b.left, b.top + 10, b.width]; })()",
    );
    let edges: Vec<f64> = edges.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
    let mouse = |what: &str, share: f64, buttons: u32| {
        let (x, y) = (edges[0] + 6.0 + (edges[2] - 12.0) * share, edges[1]);
        let event =
            json!({ "type": what, "x": x, "y": y, "button": "left", "buttons": buttons, "clickCount": 1 });
        browser.call("Input.dispatchMouseEvent", event);
    };
    mouse("mousePressed", 0.1, 1);
    for share in 1..=20 {
        mouse("mouseMoved", 0.1 + f64::from(share) * 0.03, 1);
    }
    mouse("mouseReleased", 0.7, 0);
    browser.wait(&format!(
        "Math.abs(Number(document.querySelector('#timeline').getAttribute('aria-valuenow')) - {steps} * 0.7) < {steps} / 100 && document.querySelector('.row.now') !== null"
    ));
    browser.call("HeapProfiler.collectGarbage", json!({}));
    let heap = metric("JSHeapUsedSize") / 1e6;
    println!(
        "{steps} steps: first picture after {opened:.0} ms, whole in {whole:?}; a step {:.1} ms (median of 20; longest {:.1}), a new one at the end {:.1} ms (median of 5); longest task {} ms (long ones, in ms: {}); {heap:.1} MB after 30 jumps",
        took[10],
        took[19],
        further[2],
        browser.value("window.longest"),
        browser.value("window.tasks.join(', ')")
    );
    assert!(heap < 60.0, "{heap} MB");
    browser.picture("long-1440-light.png");
    is_clean(&browser, &served);
}

/// Models of others, in the folder that `QUOTIENT_STRANGERS` names: each opens, is stepped through and shows every view without an error of
/// the page. Those that cannot be read are counted.
#[test]
#[ignore = "needs chromium and a folder of models"]
fn models_of_strangers_open() {
    let folder = std::env::var_os("QUOTIENT_STRANGERS").expect("QUOTIENT_STRANGERS names a folder");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let browser = Browser::start("strangers");
    browser.size(1440, 900, "light");
    let (mut opened, mut refused) = (0, Vec::new());
    for file in &files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let Some(served) = Served::file(file, 30, 7) else {
            refused.push(name);
            continue;
        };
        browser.requested.borrow_mut().clear();
        browser.open(&served.address);
        let length =
            browser.value("Number(document.querySelector('#timeline').getAttribute('aria-valuemax'))");
        for step in 1..=length.as_u64().unwrap().min(12) as usize {
            browser.press("ArrowRight");
            browser.wait(&at(step));
        }
        browser.press("End");
        browser.wait(&at(length.as_u64().unwrap() as usize));
        for tab in ["graph", "reductions", "check", "chart"] {
            browser.click(&format!("[data-tab={tab}]"));
            browser.wait(&format!(
                "document.querySelector('[data-tab={tab}]').getAttribute('aria-selected') === 'true'"
            ));
        }
        browser.press("Home");
        browser.wait(&at(0));
        let said = browser.text("h1");
        browser.press("f");
        browser.press("e");
        browser.press("r");
        browser.wait("document.querySelectorAll('.branch').length > 0 || !document.querySelector('#notice').hidden || Number(document.querySelector('#timeline').getAttribute('aria-valuenow')) > 0");
        browser.leave();
        is_clean(&browser, &served);
        println!("{name}: {length} steps, {said}");
        opened += 1;
    }
    println!("{opened} of {} opened; not read: {refused:?}", files.len());
    assert!(opened >= 20, "{opened} models opened");
}
