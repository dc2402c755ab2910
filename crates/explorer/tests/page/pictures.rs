//! Pictures of everything that the page shows, on every window and in every theme, with what no picture may have: text over text, regions over
//! regions, what is wider than the window, text without contrast. `QUOTIENT_PICTURES` names a folder for them; without it, two windows are looked at.

use std::path::Path;

use serde_json::json;

use crate::devtools::Browser;
use crate::everything::{MANY, RING, WINDOWS};
use crate::served::Served;
use crate::{FORGETS, LASSO, OVERLAPS, TEXTS_OVERLAP};

/// Texts whose contrast with what is behind them is below 4.5 to 1, with their colours.
const PALE: &str = "(() => { \
    const channel = c => { c /= 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4 }; \
    const parse = c => { const m = c.replace('color(srgb', '').match(/[\\d.]+/g).map(Number); const by = c.startsWith('color(') ? 255 : 1; return { rgb: m.slice(0, 3).map(n => n * by), a: m[3] ?? 1 } }; \
    const light = rgb => 0.2126 * channel(rgb[0]) + 0.7152 * channel(rgb[1]) + 0.0722 * channel(rgb[2]); \
    const behind = e => { for (let at = e; at; at = at.parentElement) { const c = parse(getComputedStyle(at).backgroundColor); if (c.a > 0.99) return c.rgb } return [255, 255, 255] }; \
    const out = []; \
    for (const e of document.querySelectorAll('body *')) { \
      if (e.closest('svg') || ![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) || e.getClientRects().length === 0 || e.closest('option, select, [aria-hidden=true], :disabled')) continue; \
      const [a, b] = [light(parse(getComputedStyle(e).color).rgb), light(behind(e))]; \
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05); \
      if (ratio < 4.49) out.push(`${e.className || e.tagName}: ${e.textContent.slice(0, 30)} ${ratio.toFixed(2)}`); \
    } return out.slice(0, 5); })()";

/// A program in which a read sees a write that is not the last one: message passing without release and acquire.
const STALE: &str = "#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

atomic_int data, ready;

static void *sender(void *unused) {
    atomic_store_explicit(&data, 1, memory_order_relaxed);
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return unused;
}

static void *receiver(void *unused) {
    if (atomic_load_explicit(&ready, memory_order_relaxed))
        assert(atomic_load_explicit(&data, memory_order_relaxed) == 1);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, sender, 0);
    pthread_create(&b, 0, receiver, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
";

fn program(name: &str) -> Served {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/c");
    Served::program(&folder.join(name), true)
}

#[test]
#[ignore = "needs chromium"]
fn pictures_of_every_view_in_a_browser() {
    let browser = Browser::start("pictures");
    let folder = std::env::temp_dir().join(format!("quotient-stale-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("stale.c"), STALE).unwrap();
    let mut subjects = vec![
        ("assertion", Served::start("abp.pml", FORGETS, true), "chart", "#because .origin"),
        ("deadlock", Served::start("ring.pml", RING, true), "chart", ".who-waits, #chart .row"),
        ("lasso", Served::start("lasso.pml", LASSO, true), "chart", ".row.again"),
        ("heap", Served::walked("models/dining_philosophers.bir", 40, 3), "heap", ".object:nth-of-type(4)"),
        ("c-race", program("counter_race.c"), "chart", "path.race"),
        ("c-deadlock", program("lock_order_inversion.c"), "chart", "rect.holds"),
        ("class", Served::at("ring.pml", RING, "q1:0"), "reductions", ".member:nth-of-type(4)"),
        (
            "graph",
            Served::at("ring.pml", &RING.replace("N 4", "N 2"), "q1:0"),
            "graph",
            ".graph circle.state",
        ),
        ("check", Served::start("many.pml", MANY, false), "check", "#check-run"),
        ("saw", Served::program(&folder.join("stale.c"), true), "chart", ".row .tag, .row"),
    ];
    let few = std::env::var_os("QUOTIENT_PICTURES").is_none();
    for (name, served, tab, ready) in &mut subjects {
        for (index, (width, height, scheme)) in WINDOWS.into_iter().chain([(1440, 900, "forced")]).enumerate()
        {
            if few && (1..3).contains(&index) {
                continue;
            }
            match scheme {
                "forced" => {
                    browser.size(width, height, "light");
                    browser.forced_colours();
                }
                _ => browser.size(width, height, scheme),
            }
            browser.open(&served.address);
            browser.press("End");
            browser.click(&format!("[data-tab={tab}]"));
            browser.wait(&format!("document.querySelector('{ready}') !== null"));
            match *name {
                "lasso" => {
                    browser.wait("document.querySelector('.headline p').innerText.includes('fairness')");
                }
                "check" => {
                    browser.press("c");
                    browser.wait("document.querySelectorAll('path.curve').length === 4 && document.querySelector('#check-said').innerText.includes('nothing wrong so far')");
                }
                // The read that sees the older write.
                "saw" => {
                    browser.press("ArrowLeft");
                    browser.wait("document.querySelector('.row.now') !== null");
                }
                _ => {}
            }
            // A chart that is not seen is not drawn.
            if *tab == "chart" {
                browser.wait("![...document.querySelectorAll('.row .said')].some(e => e.innerText === '…')");
            }
            let what = format!("{name} {width} {scheme}");
            assert_eq!(
                browser.value("document.documentElement.scrollWidth > innerWidth"),
                json!(false),
                "{what}"
            );
            assert_eq!(browser.value(OVERLAPS), json!(false), "{what}");
            assert_eq!(browser.value(TEXTS_OVERLAP), json!([]), "{what}");
            if scheme != "forced" {
                assert_eq!(browser.value(PALE), json!([]), "{what}");
            }
            browser.picture(&format!("{name}-{width}-{scheme}.png"));
            if *name == "check" {
                browser.press("Escape");
                browser.wait("!document.querySelector('#check-run').innerText.includes('Stop')");
            }
        }
    }
    let _ = std::fs::remove_dir_all(folder);
    assert!(browser.said.borrow().is_empty(), "{:?}", browser.said.borrow());
}
