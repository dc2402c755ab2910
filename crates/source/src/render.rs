//! Diagnostics as text: message, file, line, source with caret, advice.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::{Diagnostic, Diagnostics, Severity, SourceMap, Span};

/// So many messages are shown: nobody reads more of them at once, and each is looked up in its file.
const MOST: usize = 100;

/// Renders the first of them, and says how many more there are.
pub fn render_all(map: &SourceMap, diagnostics: &Diagnostics, colour: bool) -> Vec<String> {
    let mut out: Vec<String> = diagnostics.iter().take(MOST).map(|d| render(map, d, colour)).collect();
    let more = diagnostics.iter().count() - out.len();
    if more > 0 {
        out.push(format!("{more} more such messages are not shown"));
    }
    out
}

/// Renders one diagnostic; `colour` for terminals.
pub fn render(map: &SourceMap, diagnostic: &Diagnostic, colour: bool) -> String {
    let mut diagnostic = diagnostic.clone();
    diagnostic.span = diagnostic.span.map(|span| map.written(span));
    diagnostic.related.iter_mut().for_each(|(span, _)| *span = map.written(*span));
    let diagnostic = &diagnostic;
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(diagnostic.message.as_str());
    let mut group = match diagnostic.span {
        None => Group::with_title(title),
        Some(span) => {
            let mut group = title.element(primary(map, span, diagnostic));
            for (span, label) in diagnostic.related.iter().filter(|(s, _)| s.file != span.file) {
                group = group.element(
                    snippet(map, *span)
                        .annotation(AnnotationKind::Context.span(range(map, *span)).label(label.as_str())),
                );
            }
            group
        }
    };
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&[group]).to_string()
}

fn primary<'a>(
    map: &'a SourceMap,
    span: Span,
    diagnostic: &'a Diagnostic,
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let mut main = AnnotationKind::Primary.span(range(map, span));
    if !diagnostic.label.is_empty() {
        main = main.label(diagnostic.label.as_str());
    }
    let mut snippet = snippet(map, span).annotation(main);
    for (other, label) in diagnostic.related.iter().filter(|(s, _)| s.file == span.file) {
        snippet = snippet.annotation(AnnotationKind::Context.span(range(map, *other)).label(label.as_str()));
    }
    snippet
}

fn snippet(map: &SourceMap, span: Span) -> Snippet<'_, annotate_snippets::Annotation<'_>> {
    Snippet::source(map.text(span.file)).path(map.name(span.file)).fold(true)
}

/// The span's bytes, cut to the file's text and to character boundaries (a front end that
/// recovers from nonsense may hand us any span; the renderer must not panic on it).
fn range(map: &SourceMap, span: Span) -> std::ops::Range<usize> {
    let text = map.text(span.file);
    let clip = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = clip(span.start as usize);
    start..clip(span.end as usize).max(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_messages_are_kept_once_and_cut() {
        let mut map = SourceMap::new();
        let file = map.add("m.pml", &"skip;\n".repeat(50_000));
        let mut diagnostics = Diagnostics::new();
        for _ in 0..2 {
            for line in 0..50_000 {
                diagnostics.push(Diagnostic::warning(Span::new(file, 6 * line, 6 * line + 4), "idle"));
            }
        }
        assert_eq!(diagnostics.iter().count(), 50_000);
        let shown = render_all(&map, &diagnostics, false);
        assert_eq!(shown.len(), MOST + 1);
        assert_eq!(shown[MOST], "49900 more such messages are not shown");
    }

    #[test]
    fn shows_file_line_caret_and_advice() {
        let mut map = SourceMap::new();
        let file = map.add("m.pml", "byte x;\nactive proctype P() { y = 1 }\n");
        let d = Diagnostic::error(Span::new(file, 30, 31), "`y` is not declared")
            .label("not found in this scope")
            .help("declare it first, for example `byte y;`");
        let text = render(&map, &d, false);
        assert!(text.contains("error: `y` is not declared"), "{text}");
        assert!(text.contains("m.pml:2:23"), "{text}");
        assert!(text.contains("^ not found in this scope"), "{text}");
        assert!(text.contains("help: declare it first"), "{text}");
    }

    #[test]
    fn survives_odd_spans() {
        let mut map = SourceMap::new();
        let file = map.add("m.pml", "é");
        for (start, end) in [(1, 1), (0, 9), (5, 2), (1, 2)] {
            let d = Diagnostic::error(Span { file, start, end }, "x");
            assert!(render(&map, &d, false).contains("error: x"));
        }
        let empty = map.add("empty.pml", "");
        assert!(render(&map, &Diagnostic::error(Span::new(empty, 0, 0), "x"), false).contains("empty.pml"));
    }
}
