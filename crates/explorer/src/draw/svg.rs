//! SVG as text.

use std::fmt::Write;

/// Colours of processes, in turn.
pub(super) const COLOURS: [&str; 4] = ["#0a62a9", "#a65300", "#00705a", "#6b1f5e"];

/// Where one stands, and what is repeated.
pub(super) const HERE: &str = "#1d5fc4";

/// What is wrong.
pub(super) const WRONG: &str = "#b3340f";

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A drawing that grows with what is in it.
pub(super) struct Svg {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) body: String,
}

impl Svg {
    pub(super) fn text(&mut self, x: f64, y: f64, class: &str, said: &str) {
        let _ = writeln!(self.body, r#"<text x="{x:.1}" y="{y:.1}" class="{class}">{}</text>"#, escape(said));
        self.width = self.width.max(x + 7.3 * said.chars().count() as f64 + 16.0);
        self.height = self.height.max(y + 20.0);
    }

    pub(super) fn path(&mut self, d: &str, colour: &str, more: &str) {
        let _ = writeln!(self.body, r#"<path d="{d}" fill="none" stroke="{colour}" {more}/>"#);
    }

    /// An arrow head whose tip is here, pointing to the right or to the left.
    pub(super) fn head(&mut self, x: f64, y: f64, to_the_right: bool, colour: &str) {
        let back = if to_the_right { -7.0 } else { 7.0 };
        let _ = writeln!(self.body, r#"<path d="M{x:.1} {y:.1}l{back} -4v8z" fill="{colour}"/>"#);
    }

    /// A ring: something that waits.
    pub(super) fn ring(&mut self, x: f64, y: f64, colour: &str) {
        let _ = writeln!(
            self.body,
            r##"<circle cx="{x:.1}" cy="{y:.1}" r="3.5" fill="#fff" stroke="{colour}" stroke-width="1.4"/>"##
        );
    }

    pub(super) fn circle(&mut self, x: f64, y: f64, r: f64, fill: &str) {
        let _ = writeln!(
            self.body,
            r##"<circle cx="{x:.1}" cy="{y:.1}" r="{r}" fill="{fill}" stroke="#5b6068" stroke-width="0.5"/>"##
        );
    }

    pub(super) fn finish(self) -> String {
        let Svg { width, height, body } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\">\n\
             <style>text{{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#1a1c1f;white-space:pre}}.dim{{fill:#6c7178}}.head{{font-weight:600}}\
             .wrong{{fill:#b3340f;font-weight:600}}.changed{{fill:#8a5a00;font-weight:600}}</style>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{body}</svg>\n"
        )
    }
}

/// An empty drawing.
pub(super) fn empty() -> Svg {
    Svg { width: 200.0, height: 60.0, body: String::new() }
}
