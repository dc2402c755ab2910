//! A program that watches itself: the witness's conditions are put into its text, where they belong.
//!
//! The monitor has a number, the segment that is under way. Wherever a place of the witness is passed, its constraint is evaluated by the program itself. If the place is the one to
//! follow, the constraint must hold the first time, and then the next segment is under way (whoever reads the format so that it may hold later has these executions among others); if it is one to avoid, it must not.
//! Otherwise the execution is none that is meant, and ends there, as one does in which an assumption does not hold. Calls of `reach_error` are reached by executions only that have passed all segments, the target at last. So the program with the monitor
//! has a failing execution exactly if the program has one that the witness describes, and the usual exploration looks for it. In programs with threads the
//! monitor works in atomic sections, which are steps that depend on each other, so that no order of places is missed.
//!
//! Where a witness names threads, every thread knows its number in the witness, if it has one: `main` is 0, and the thread that the k-th `function_enter` of the witness at a call of `pthread_create`
//! starts, while that segment is under way, is k. It is started by a function of the monitor, which notes the number and calls the program's. A place that names a thread is passed by this thread alone.
//!
//! A failing execution is believed only after the same choices, without the monitor's steps, have made the program itself fail in the same way. Everything that is not
//! understood (a place that is not found, a constraint that is not a plain expression, a thread that the witness does not see started, several files) is refused here.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use quotient_formats::witness::{Condition, Subject, Witness};

use super::text::Text;

/// The name that the monitor's own steps have for their file.
pub(super) const NAME: &str = "the witness";

/// The program with the monitor in it, and values that its environment may give.
pub(super) struct Watched {
    pub(super) text: String,
    pub(super) values: Vec<i64>,
}

/// Where something is put into the text: before a token, around the bytes of a condition, around a call from its name on; around a call of `reach_error`, which
/// comes after everything else that its statement does.
enum Place {
    Statement(usize),
    Error(usize, usize),
    Branch(usize, Range<usize>),
    Call(usize, usize),
}

/// What is put in: at which byte, and in which order at the same one (what is outer comes first, or last after it).
struct Insertion {
    at: usize,
    rank: isize,
    text: String,
}

/// The plain expressions of C: nothing that has an effect, or ends the expression.
fn is_plain(text: &str) -> bool {
    let tokens = Text::of(text).tokens;
    let allowed = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
            || [
                "==", "!=", "<", ">", "<=", ">=", "&&", "||", "!", "+", "-", "*", "/", "%", "&", "|", "^",
                "~", "(", ")", "[", "]", ".", "->", "?", ":", "<<", ">>",
            ]
            .contains(&word)
    };
    let calls = tokens.windows(2).any(|two| {
        two[1].text == "("
            && (two[0].text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
                || two[0].text == ")")
    });
    let mut open = 0i32;
    let balanced = tokens.iter().all(|token| {
        open += i32::from(["(", "["].contains(&token.text)) - i32::from([")", "]"].contains(&token.text));
        open >= 0
    });
    !tokens.is_empty() && tokens.iter().all(|token| allowed(token.text)) && !calls && balanced && open == 0
}

/// When a condition holds, as an expression over what is there: `quotient_value` at branches and calls.
fn constraint(condition: &Condition, text: &Text, place: &Place) -> Result<String, String> {
    let given = condition.constraint.as_deref();
    let wrong = || {
        format!("line {}: the constraint `{}` is not understood", condition.line, given.unwrap_or_default())
    };
    match (condition.subject, given) {
        (Subject::Target | Subject::Enter, _) | (_, None | Some("1"))
            if condition.subject != Subject::Branching =>
        {
            Ok("1".to_owned())
        }
        (Subject::Branching, Some("true")) => Ok("quotient_value".to_owned()),
        (Subject::Branching, Some("false")) => Ok("!quotient_value".to_owned()),
        (Subject::Branching, Some("default")) => {
            let Place::Branch(token, _) = place else { return Err(wrong()) };
            let cases = text.cases(*token).ok_or_else(wrong)?;
            Ok(cases.iter().fold("1".to_owned(), |out, case| format!("{out} && quotient_value != ({case})")))
        }
        (Subject::Branching, Some(number)) if number.parse::<i64>().is_ok() => {
            Ok(format!("quotient_value == ({number})"))
        }
        (Subject::Return, Some(written)) => {
            let plain = written.replace("\\result", "quotient_value");
            is_plain(&plain).then_some(plain).ok_or_else(wrong)
        }
        (Subject::Assumption, Some(written)) if is_plain(written) => Ok(written.to_owned()),
        _ => Err(wrong()),
    }
}

fn place(condition: &Condition, text: &Text) -> Result<Place, String> {
    let (line, column) = (condition.line, condition.column);
    let found = match condition.subject {
        Subject::Target if let Some((name, close)) = text.error(line) => Some(Place::Error(name, close)),
        Subject::Assumption | Subject::Target => text.statement(line, column).map(Place::Statement),
        Subject::Branching => text.branch(line, column).map(|(token, bytes)| Place::Branch(token, bytes)),
        Subject::Enter | Subject::Return => {
            text.call(line, column).map(|call| Place::Call(call.start, call.end))
        }
    };
    let what = match condition.subject {
        Subject::Assumption | Subject::Target => "statement",
        Subject::Branching => "branch",
        Subject::Enter | Subject::Return => "call",
    };
    found.ok_or_else(|| match column {
        Some(column) => format!("line {line}, column {column}: there is no {what} there"),
        None => format!("line {line}: there is no {what} there"),
    })
}

/// Every number that the witness and the program mention, those of the witness first, and small ones: enough for most constraints to have a value that meets them.
fn values(witness: &Witness, text: &Text) -> Vec<i64> {
    let number = |word: &str| match word.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        Some(c) if c.len() == 1 => c.bytes().next().map(i64::from),
        Some(_) => None,
        None => word.trim_end_matches(['u', 'U', 'l', 'L']).parse().ok(),
    };
    let of =
        |tokens: &Text| tokens.tokens.iter().filter_map(|token| number(token.text)).collect::<Vec<i64>>();
    let mut all = Vec::new();
    let written = witness.segments.iter().flatten().filter_map(|condition| condition.constraint.as_deref());
    for value in written.flat_map(|written| of(&Text::of(written))) {
        all.extend([value, -value, value.saturating_add(1), value.saturating_sub(1)]);
    }
    all.extend([0, 1, -1]);
    for value in of(text) {
        all.extend([value, value.saturating_add(1)]);
    }
    all.extend(2..16);
    let mut seen = BTreeSet::new();
    all.retain(|value| i32::try_from(*value).is_ok() && seen.insert(*value));
    all.truncate(24);
    all
}

/// What the monitor has beside for threads with numbers, which have them from their start on. How many starts there may be is bounded; an execution with more ends.
fn numbered_threads(begin: &str, end: &str) -> String {
    format!(
        "struct quotient_start {{ void *(*run)(void *); void *argument; int thread; }}; static struct quotient_start quotient_starts[256]; \
         static int quotient_count; static __thread int quotient_thread, quotient_next; \
         static void *quotient_run(void *given) {{ struct quotient_start *start = given; quotient_thread = start->thread; return start->run(start->argument); }} \
         static void *quotient_started(void *(*run)(void *), void *argument) {{ {begin} int count = quotient_count; if (count < 256) quotient_count++; {end} \
         quotient_assume(count < 256); struct quotient_start *start = &quotient_starts[count]; start->run = run; start->argument = argument; \
         start->thread = quotient_next ? quotient_next : -1; quotient_next = 0; return start; }}\n\
         #define quotient_pthread_create(thread, attributes, run, argument) pthread_create(thread, attributes, quotient_run, \
         quotient_started((void *(*)(void *))(run), (void *)(argument)))\n"
    )
}

/// The segments in which threads are started, in order: the k-th one starts thread k.
fn started<'a>(
    text: &Text,
    places: impl Iterator<Item = &'a (Place, Vec<(usize, &'a Condition, String)>)>,
) -> Vec<usize> {
    let mut segments = Vec::new();
    for (place, conditions) in places {
        let Place::Call(name, _) = place else { continue };
        let enters = conditions.iter().filter(|(_, c, _)| c.subject == Subject::Enter && !c.avoid);
        if text.tokens[*name].text == "pthread_create" {
            segments.extend(enters.map(|(segment, _, _)| *segment));
        }
    }
    segments.sort_unstable();
    segments
}

/// Puts the monitor into the program at `path`.
pub(super) fn watched(path: &Path, program: &str, witness: &Witness) -> Result<Watched, String> {
    let text = Text::of(program);
    let conditions = || witness.segments.iter().flatten();
    if !witness.specification.contains("call(reach_error())") {
        return Err("the specification is not about reach_error()".to_owned());
    }
    if witness.segments.iter().any(|segment| segment.iter().filter(|c| !c.avoid).count() != 1) {
        return Err("a segment has several waypoints to follow".to_owned());
    }
    let file = path.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
    let name = |file: &str| Path::new(file).file_name().map(std::ffi::OsStr::to_owned);
    if let Some(other) =
        conditions().find(|c| name(&c.file) != path.file_name().map(std::ffi::OsStr::to_owned))
    {
        return Err(format!("it is about {}, too", other.file));
    }
    if text.directives.iter().any(|directive| directive.contains("reach_error")) {
        return Err("reach_error() is called by a macro".to_owned());
    }
    // The conditions at each place: their segments, and which bit says that they hold.
    type Conditions<'a> = Vec<(usize, &'a Condition, String)>;
    let mut places: BTreeMap<(usize, usize), (Place, Conditions<'_>)> = BTreeMap::new();
    for (segment, conditions) in witness.segments.iter().enumerate() {
        for condition in conditions {
            let place = place(condition, &text)?;
            let holds = constraint(condition, &text, &place)?;
            let key = match &place {
                Place::Statement(at) => (*at, 0),
                Place::Error(at, _) => (*at, 3),
                Place::Branch(at, _) => (*at, 1),
                Place::Call(_, close) => (*close, 2),
            };
            places.entry(key).or_insert_with(|| (place, Vec::new())).1.push((segment, condition, holds));
        }
    }
    let has_threads = text.tokens.iter().any(|token| ["pthread_create", "thrd_create"].contains(&token.text));
    let started = started(&text, places.values());
    let named = conditions().any(|condition| condition.thread.is_some());
    if let Some(thread) =
        conditions().filter_map(|c| c.thread).find(|thread| *thread as usize > started.len())
    {
        return Err(format!("it does not say where thread {thread} is started"));
    }
    let (begin, end) = if has_threads { ("quotient_begin();", "quotient_end();") } else { ("", "") };
    let mut monitor = format!(
        "#line 1 \"{NAME}\"\nextern void quotient_begin(void) __asm__(\"__VERIFIER_atomic_begin\"); extern void quotient_end(void) __asm__(\"__VERIFIER_atomic_end\"); \
         extern void quotient_assume(int) __asm__(\"__VERIFIER_assume\"); static int quotient_segment; static void quotient_gate(void) {{ \
         {begin} int done = quotient_segment == {}; {end} quotient_assume(done); }}\n",
        witness.segments.len()
    );
    let mut insertions = Vec::new();
    if named {
        let hidden = |name: &str| text.directives.iter().any(|directive| directive.contains(name));
        if hidden("pthread_create") || text.tokens.iter().any(|token| token.text == "thrd_create") {
            return Err("threads are not only started by calls of pthread_create".to_owned());
        }
        monitor += &numbered_threads(begin, end);
        for (at, token) in text.tokens.iter().enumerate().filter(|(_, token)| token.text == "pthread_create")
        {
            match text.call_at(at) {
                None => return Err("pthread_create is not only called".to_owned()),
                Some(None) => {}
                Some(Some(_)) => {
                    insertions.push(Insertion { at: token.at, rank: 0, text: "quotient_".to_owned() });
                }
            }
        }
    }
    for (number, (place, conditions)) in places.values().enumerate() {
        if conditions.len() > 60 {
            return Err("too many conditions at one place".to_owned());
        }
        // A call has two moments.
        for (moment, subject) in [("", None), ("_enter", Some(Subject::Enter))] {
            let mut rules = String::new();
            for (bit, (segment, condition, _)) in conditions.iter().enumerate() {
                let is_enter = condition.subject == Subject::Enter;
                if is_enter == subject.is_some() {
                    let (met, otherwise) = match condition.avoid {
                        true => ("avoided = 1;".to_owned(), ""),
                        false => {
                            let number = started.iter().position(|there| there == segment).map(|at| at + 1);
                            let starts =
                                number.filter(|_| named).map(|number| format!(" quotient_next = {number};"));
                            (format!("next++;{}", starts.unwrap_or_default()), " else avoided = 1;")
                        }
                    };
                    let thread = condition.thread.map(|thread| format!(" && quotient_thread == {thread}"));
                    let thread = thread.unwrap_or_default();
                    rules += &format!(
                        "if (quotient_segment == {segment}{thread}) {{ if (held >> {bit} & 1) {{ {met} }}{otherwise} }} "
                    );
                }
            }
            monitor += &format!(
                "static void quotient_at_{number}{moment}(unsigned long long held) {{ {begin} int avoided = 0, next = quotient_segment; {rules}quotient_segment = next; {end} quotient_assume(!avoided); }}\n"
            );
        }
        let mask = |subject: Option<Subject>| {
            let of = conditions
                .iter()
                .enumerate()
                .filter(|(_, (_, c, _))| (c.subject == Subject::Enter) == subject.is_some());
            let bits = of.map(|(bit, (_, _, holds))| format!(" | (({holds}) ? 1ull << {bit} : 0)"));
            bits.fold("0ull".to_owned(), |out, bit| out + &bit)
        };
        let (at, entered) = (mask(None), mask(Some(Subject::Enter)));
        let mut wrap = |begin: usize, end: usize, before: String, behind: String| {
            let size = (end - begin) as isize;
            insertions.push(Insertion { at: begin, rank: -size, text: before });
            insertions.push(Insertion { at: end, rank: size, text: behind });
        };
        match place {
            Place::Statement(token) => {
                let first = text.tokens[*token];
                let is_expression =
                    !["if", "while", "for", "switch", "return", "do", "goto", "break", "continue"]
                        .contains(&first.text);
                let separator = match text.stands_alone(*token) {
                    false => "; ",
                    true if is_expression => ", ",
                    true => {
                        return Err(format!(
                            "nothing can be put before the statement `{}` without braces",
                            first.text
                        ));
                    }
                };
                // What the constraint reads is not a step of the program.
                let line = first.line;
                insertions.push(Insertion {
                    at: first.at,
                    rank: isize::MIN,
                    text: format!("\n#line 1 \"{NAME}\"\nquotient_at_{number}({at}){separator}\n#line {line} \"{file}\"\n"),
                });
            }
            Place::Error(name, close) => {
                let (begin, end) = (text.tokens[*name].at, text.tokens[*close].end());
                let size = (end - begin) as isize + 1;
                let before = format!("({{ quotient_at_{number}({at}); ");
                insertions.push(Insertion { at: begin, rank: -size, text: before });
                insertions.push(Insertion { at: end, rank: size, text: "; })".to_owned() });
            }
            Place::Branch(token, bytes) => {
                let is_switch = text.tokens[*token].text == "switch";
                let (before, behind) = if is_switch {
                    ("long long quotient_value = (", ")")
                } else {
                    ("int quotient_value = (", ") ? 1 : 0")
                };
                // The condition of a `for` may be missing.
                let always = if program[bytes.clone()].trim().is_empty() { "1" } else { "" };
                let behind = format!("{always}{behind}; quotient_at_{number}({at}); quotient_value; }})");
                wrap(bytes.start, bytes.end, format!("({{ {before}"), behind);
            }
            Place::Call(name, close) => {
                let (name, close) = (text.tokens[*name], text.tokens[*close]);
                let gives = conditions.iter().any(|(_, condition, _)| condition.subject == Subject::Return);
                let (before, behind) = if gives {
                    (
                        "__auto_type quotient_value = ",
                        format!("; quotient_at_{number}({at}); quotient_value; }})"),
                    )
                } else {
                    ("", "; })".to_owned())
                };
                wrap(
                    name.at,
                    close.end(),
                    format!("({{ quotient_at_{number}_enter({entered}); {before}"),
                    behind,
                );
            }
        }
    }
    for (at, token) in text.tokens.iter().enumerate().filter(|(_, token)| token.text == "reach_error") {
        match text.call_at(at) {
            None => return Err("reach_error is not only called".to_owned()),
            Some(None) => {}
            Some(Some(close)) => {
                let end = text.tokens[close].end();
                let size = (end - token.at) as isize;
                insertions.push(Insertion {
                    at: token.at,
                    rank: -size,
                    text: "({ quotient_gate(); ".to_owned(),
                });
                insertions.push(Insertion { at: end, rank: size, text: "; })".to_owned() });
            }
        }
    }
    insertions.sort_by_key(|insertion| (insertion.at, insertion.rank));
    let (mut out, mut from) = (String::new(), 0);
    for insertion in &insertions {
        out.push_str(&program[from..insertion.at]);
        out.push_str(&insertion.text);
        from = insertion.at;
    }
    out.push_str(&program[from..]);
    Ok(Watched { text: format!("{monitor}#line 1 \"{file}\"\n{out}"), values: values(witness, &text) })
}
