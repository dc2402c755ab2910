//! Pictures without a browser, of every model of this repository and of random programs: whole, and with what they are to say.

use std::sync::Arc;

use quotient_engine::Model;
use quotient_explorer::draw::{Format, Picture, draw};
use quotient_explorer::session::Opening;
use quotient_explorer::{Answers, Session};
use serde_json::json;

use crate::answers::subjects;

/// The value of an attribute of an element, as a number.
fn attribute(element: &str, name: &str) -> Option<f64> {
    let (_, rest) = element.split_once(&format!(" {name}=\""))?;
    rest.split('"').next()?.parse().ok()
}

/// What is wrong with a drawing: elements that are not closed, text that is not escaped, or something outside of it.
fn wrong(svg: &str) -> Option<String> {
    let body = svg.strip_prefix("<svg ")?.strip_suffix("</svg>\n");
    let Some(body) = body else { return Some("it does not end".into()) };
    let head = format!(" {}", body.lines().next()?);
    let (width, height) = (attribute(&head, "width")?, attribute(&head, "height")?);
    for line in body.lines().skip(1).filter(|line| !line.starts_with("<style>")) {
        let element = line.split([' ', '>']).next()?.trim_start_matches('<');
        let closed = line.ends_with("/>") || line.ends_with(&format!("</{element}>"));
        if !closed || line.matches('<').count() != if element == "text" { 2 } else { 1 } {
            return Some(format!("not an element: {line}"));
        }
        let (x, y) = match element {
            "text" => (attribute(line, "x")?, attribute(line, "y")?),
            "circle" => (attribute(line, "cx")?, attribute(line, "cy")?),
            _ => continue,
        };
        let plain =
            ["&lt;", "&gt;", "&amp;", "&quot;"].iter().fold(line.to_owned(), |l, e| l.replace(e, "x"));
        let said = plain.split(['<', '>']).nth(2).map_or(0, |text| text.chars().count()) as f64;
        let end = if element == "text" { x + 5.0 * said.min(60.0) } else { x };
        if x < 0.0 || y < 0.0 || end > width || y > height {
            return Some(format!("outside of {width} x {height}: {line}"));
        }
    }
    None
}

#[test]
fn every_run_can_be_drawn() {
    let mut drawn = 0;
    for (index, (name, model)) in subjects().enumerate() {
        let Ok(session) = Session::new(Arc::new(model), name.clone(), Vec::new(), Opening::default()) else {
            continue;
        };
        let walk = json!({ "path": "q1:", "steps": 25, "seed": index + 2 });
        let Ok(walked) = session.answer("walk", &walk) else { continue };
        let path = walked["path"].as_str().unwrap();
        for picture in [Picture::Chart, Picture::Heap, Picture::Graph] {
            let svg = draw(&session, path, None, picture, Format::Svg).unwrap();
            assert_eq!(wrong(&svg), None, "{name}, {picture:?}");
            let other = if picture == Picture::Chart { Format::Mermaid } else { Format::Dot };
            let text = draw(&session, path, None, picture, other).unwrap();
            assert!(text.starts_with("sequenceDiagram\n") || text.ends_with("}\n"), "{name}: {text}");
            drawn += 1;
        }
    }
    assert!(drawn > 1000, "{drawn}");
}

/// The graph for Graphviz says where processes stand, and the run is marked in it.
#[test]
fn a_graph_marks_the_run() {
    let text = "bool taken[2]; active [2] proctype P() { atomic { !taken[_pid] -> taken[_pid] = true }; !taken[1 - _pid] }";
    let model = Model::from_text("drawn.pml", text).unwrap();
    let session = Session::new(Arc::new(model), "drawn.pml".into(), Vec::new(), Opening::default()).unwrap();
    let dot = draw(&session, "q1:0.1", None, Picture::Graph, Format::Dot).unwrap();
    let bold: Vec<&str> = dot.lines().filter(|line| line.contains("penwidth=3")).collect();
    // Three states and two steps; the other order of the same steps is not marked.
    assert_eq!(bold.len(), 5, "{dot}");
    assert_eq!(bold.iter().filter(|line| line.contains("->")).count(), 2, "{dot}");
    assert!(bold.iter().any(|line| line.contains("label=\"P(0): !taken[_pid]")), "{dot}");
    let last = bold.iter().find(|line| line.contains("fillcolor=\"#f6c6b8\"")).expect("the deadlock");
    assert!(last.contains("P(0) @ line 1\\lP(1) @ line 1\\ltaken[0] = 1"), "{last}");
}

#[test]
fn a_chart_says_how_the_run_ends() {
    let chart = |text: &str, path: &str| {
        let model = Model::from_text("drawn.pml", text).unwrap();
        let session = Session::new(Arc::new(model), "drawn.pml".into(), Vec::new(), Opening::default());
        let session = session.unwrap();
        let one = |format| draw(&session, path, None, Picture::Chart, format).unwrap();
        (one(Format::Svg), one(Format::Mermaid))
    };
    let forks = "bool taken[2]; active [2] proctype P() { atomic { !taken[_pid] -> taken[_pid] = true }; !taken[1 - _pid] }";
    let (svg, mermaid) = chart(forks, "q1:0.1");
    for said in [
        "nobody can go on",
        "P(0) waits: !taken[1 - _pid] is false: taken[1] is 1",
        "P(1) waits: !taken[1 - _pid] is false: taken[0] is 1",
    ] {
        assert!(svg.contains(said), "{said}: {svg}");
        assert!(mermaid.contains(said), "{said}: {mermaid}");
    }
    let (svg, _) = chart("byte x; active proctype P() { x = 2; assert(x < 2) }", "q1:0*2");
    assert!(svg.contains("2 &lt; 2") && svg.contains("assertion violated"), "{svg}");
    // Of a long run the beginning is drawn, and that is said.
    let (svg, mermaid) = chart("byte x; active proctype P() { do :: x = 1 - x od }", "q1:0*3000");
    assert!(svg.contains("the first 2000 statements of a run of 3000 steps"), "{}", &svg[svg.len() - 300..]);
    assert!(mermaid.contains("the first 2000 statements of a run of 3000 steps"));
}
