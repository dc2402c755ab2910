//! The properties of a family of BEEM as formulas: its XML file names propositions and says what they mean, in expressions of
//! DVE with m4 macros for the parameters of an instance.

use std::collections::HashMap;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Can a state be reached?
    Goal,
    /// Does a formula hold on all runs?
    Linear,
}

/// A family of instances.
#[derive(Debug, Default)]
pub struct Family {
    /// Propositions and what they mean.
    propositions: Vec<(String, String)>,
    /// Numbers, kinds and formulas.
    properties: Vec<(u32, Kind, String)>,
    /// Parameters of each instance, by its number.
    parameters: HashMap<String, Vec<(String, String)>>,
    /// Parameters that an instance may leave out.
    defaults: Vec<(String, String)>,
}

impl Family {
    /// Reads the XML file of a family and the model with its macros.
    pub fn read(xml: &str, model: &str) -> Family {
        let mut family = Family::default();
        for part in elements(xml, "ap") {
            if let (Some(name), Some(e)) = (inner(part, "ap-name"), inner(part, "ap-expression")) {
                family.propositions.push((name, e));
            }
        }
        for part in elements(xml, "property") {
            let kind = match attribute(part, "prop-type") {
                Some("reachability") => Kind::Goal,
                Some("LTL") => Kind::Linear,
                _ => continue,
            };
            let number = attribute(part, "id").and_then(|id| id.parse().ok());
            if let (Some(number), Some(formula)) = (number, inner(part, "formula")) {
                family.properties.push((number, kind, formula));
            }
        }
        for part in elements(xml, "instance") {
            let given = inner(part, "parameters").unwrap_or_default();
            let pairs = given.split(',').filter_map(|p| p.split_once('='));
            let pairs = pairs.map(|(n, v)| (n.trim().to_owned(), v.trim().to_owned())).collect();
            family.parameters.insert(attribute(part, "id").unwrap_or_default().to_owned(), pairs);
        }
        for part in model.split("default(").skip(1) {
            if let Some((name, value)) = part.split(')').next().and_then(|p| p.split_once(',')) {
                family.defaults.push((name.trim().to_owned(), value.trim().to_owned()));
            }
        }
        family
    }

    /// A property of an instance, as the checker reads it: the formula, or what a goal state satisfies.
    pub fn formula(&self, instance: &str, number: u32, kind: Kind) -> Option<String> {
        let (_, _, text) = self.properties.iter().find(|(n, k, _)| *n == number && *k == kind)?;
        let given = self.parameters.get(instance)?;
        let value = |name: &str| {
            let pairs = given.iter().chain(&self.defaults);
            pairs.into_iter().find(|(n, _)| n == name).map(|(_, v)| v.clone())
        };
        let known = |word: &str| self.propositions.iter().find(|(n, _)| n == word).map(|(_, e)| e);
        Some(words(text, &|word| {
            if let Some(e) = known(word) {
                return Some(format!("({})", expand(e, &value).replace("->", ".")));
            }
            // `p1U(…)` is written without a space.
            if let Some(e) = word.strip_suffix('U').and_then(known) {
                return Some(format!("({}) U ", expand(e, &value).replace("->", ".")));
            }
            let operator = match word {
                "G" => "[]",
                "F" => "<>",
                "GF" => "[] <>",
                "FG" => "<> []",
                "R" => "V",
                "not" => "!",
                _ => return None,
            };
            Some(format!("{operator} "))
        }))
    }
}

/// Replaces loops and parameters.
fn expand(text: &str, value: &dyn Fn(&str) -> Option<String>) -> String {
    let Some((before, rest)) = text.split_once("myloop(") else {
        return pieces(text).iter().map(|piece| words(piece, value)).collect();
    };
    let (arguments, after) = arguments(rest);
    let [variable, from, to, body, separator] = &arguments[..] else { return text.to_owned() };
    let number = |text: &str| {
        let inner = text.trim().strip_prefix("decr(").and_then(|t| t.strip_suffix(')'));
        let plain = words(inner.unwrap_or(text).trim(), value).parse::<i32>().unwrap_or(0);
        plain - i32::from(inner.is_some())
    };
    let rounds = number(from)..=number(to);
    let round = |i: i32| {
        let with = |word: &str| if word == variable.trim() { Some(i.to_string()) } else { value(word) };
        pieces(body).iter().map(|piece| words(piece, &with)).collect::<String>()
    };
    let looped = rounds.map(round).collect::<Vec<_>>().join(separator);
    format!("{}{looped}{}", expand(before, value), expand(after, value))
}

/// What m4's empty quotes keep apart.
fn pieces(text: &str) -> Vec<&str> {
    text.split("`'").collect()
}

/// The arguments of a macro up to its closing parenthesis, without their outer quotes, and what follows.
fn arguments(text: &str) -> (Vec<String>, &str) {
    let (mut list, mut current) = (Vec::new(), String::new());
    let (mut quotes, mut parentheses) = (0, 0);
    for (at, c) in text.char_indices() {
        match c {
            '`' => quotes += 1,
            '\'' => quotes -= 1,
            '(' if quotes == 0 => parentheses += 1,
            ')' if quotes == 0 && parentheses == 0 => {
                list.push(unquoted(&current));
                return (list, &text[at + 1..]);
            }
            ')' if quotes == 0 => parentheses -= 1,
            ',' if quotes == 0 && parentheses == 0 => {
                list.push(unquoted(&current));
                current.clear();
                continue;
            }
            _ => {}
        }
        current.push(c);
    }
    (list, "")
}

fn unquoted(text: &str) -> String {
    let inner = text.trim().strip_prefix('`').and_then(|t| t.strip_suffix('\''));
    inner.unwrap_or(text).to_owned()
}

/// Replaces words.
fn words(text: &str, by: &dyn Fn(&str) -> Option<String>) -> String {
    let part_of_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (mut out, mut rest) = (String::new(), text);
    while let Some(first) = rest.chars().next() {
        let length = match part_of_word(first) {
            true => rest.find(|c| !part_of_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (word, after) = rest.split_at(length);
        out += &by(word).unwrap_or_else(|| word.to_owned());
        rest = after;
    }
    out
}

/// The texts of all elements with a name, from after the name to the end tag.
fn elements<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let (start, end) = (format!("<{name}"), format!("</{name}>"));
    let found = text.match_indices(&start).filter_map(|(at, _)| {
        let after = &text[at + start.len()..];
        // Another name may start like this one.
        let whole = after.starts_with(|c: char| c == '>' || c.is_whitespace());
        whole.then(|| after.split(&end).next()).flatten()
    });
    found.collect()
}

/// The content of the first element with a name.
fn inner(text: &str, name: &str) -> Option<String> {
    let part = elements(text, name).into_iter().next()?;
    let content = part.split_once('>')?.1;
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")];
    Some(entities.iter().fold(content.trim().to_owned(), |t, (from, to)| t.replace(from, to)))
}

fn attribute<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let start = text.find(&format!("{name}=\""))? + name.len() + 2;
    Some(&text[start..start + text[start..].find('"')?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_expanded() {
        let xml = r#"<model><ap><ap-name>inside</ap-name><ap-expression>myloop(i,0,decr(N), `P_`'i.CS', ` + ') &gt; 1</ap-expression></ap>
<ap parametrized="yes"><ap-name>w</ap-name><ap-expression>P_0->x == MAX</ap-expression></ap>
<property id="1" prop-type="reachability"><formula>inside</formula></property>
<property id="2" prop-type="LTL"><formula>G(w -> (!wU(inside)))</formula></property>
<instance id="1"><parameters>N=2</parameters></instance></model>"#;
        let family = Family::read(xml, "default(N,3)\ndefault(MAX,7)");
        assert_eq!(family.formula("1", 1, Kind::Goal).as_deref(), Some("(P_0.CS + P_1.CS > 1)"));
        let formula = family.formula("1", 2, Kind::Linear);
        assert_eq!(
            formula.as_deref(),
            Some("[] ((P_0.x == 7) -> (!(P_0.x == 7) U ((P_0.CS + P_1.CS > 1))))")
        );
        assert_eq!(family.formula("1", 1, Kind::Linear), None);
    }
}
