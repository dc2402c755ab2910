//! The page's types (`web/src/types.ts`): they are made from the types of the answers, and every answer is held against them: every field of it is
//! declared, with its type, and every field that is declared is there unless it may be missing.

use std::collections::BTreeMap;

use serde_json::Value;

/// A type of TypeScript, as far as the page uses them.
#[derive(Clone, Debug)]
enum Type {
    Named(String),
    Text(String),
    List(Box<Type>),
    Tuple(Vec<Type>),
    Any(Vec<Type>),
    Fields(Vec<Field>),
    Record(Box<Type>),
}

#[derive(Clone, Debug)]
struct Field {
    name: String,
    may_be_missing: bool,
    ty: Type,
}

/// The interfaces of the page, by name.
pub struct Types(BTreeMap<String, Type>);

struct Parser(Vec<String>, usize);

fn tokens(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
            continue;
        } else if rest.starts_with("/*") {
            rest = &rest[rest.find("*/").map_or(rest.len(), |at| at + 2)..];
            continue;
        } else if first.is_whitespace() {
            rest = rest.trim_start();
            continue;
        } else if first == '"' {
            rest[1..].find('"').unwrap() + 2
        } else if first.is_alphanumeric() || first == '_' {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
        } else {
            1
        };
        out.push(rest[..length].to_owned());
        rest = &rest[length..];
    }
    out
}

impl Parser {
    fn peek(&self) -> &str {
        self.0.get(self.1).map_or("", String::as_str)
    }

    fn next(&mut self) -> String {
        self.1 += 1;
        self.0[self.1 - 1].clone()
    }

    fn is(&mut self, token: &str) -> bool {
        let found = self.peek() == token;
        self.1 += usize::from(found);
        found
    }

    fn ty(&mut self) -> Type {
        self.is("|");
        let mut all = vec![self.single()];
        while self.is("|") {
            all.push(self.single());
        }
        if all.len() == 1 { all.remove(0) } else { Type::Any(all) }
    }

    fn single(&mut self) -> Type {
        let token = self.next();
        let mut ty = match token.as_str() {
            "(" => {
                let inner = self.ty();
                assert!(self.is(")"));
                inner
            }
            "[" => {
                let mut parts = vec![self.ty()];
                while self.is(",") {
                    parts.push(self.ty());
                }
                assert!(self.is("]"));
                Type::Tuple(parts)
            }
            "{" => self.fields(),
            "Record" => {
                assert!(self.is("<") && self.is("string") && self.is(","));
                let inner = self.ty();
                assert!(self.is(">"));
                Type::Record(Box::new(inner))
            }
            text if text.starts_with('"') => Type::Text(text.trim_matches('"').to_owned()),
            name => Type::Named(name.to_owned()),
        };
        while self.peek() == "[" && self.0[self.1 + 1] == "]" {
            self.1 += 2;
            ty = Type::List(Box::new(ty));
        }
        ty
    }

    /// The fields of an interface, whose brace has been read.
    fn fields(&mut self) -> Type {
        let mut fields = Vec::new();
        while !self.is("}") {
            let name = self.next();
            let may_be_missing = self.is("?");
            assert!(self.is(":"), "{name}: {:?}", &self.0[self.1..self.1 + 5]);
            fields.push(Field { name, may_be_missing, ty: self.ty() });
            self.is(";");
        }
        Type::Fields(fields)
    }
}

impl Types {
    /// Those of the page.
    pub fn of_the_page() -> Types {
        let mut parser = Parser(tokens(include_str!("../../web/src/types.ts")), 0);
        let mut all = BTreeMap::new();
        while parser.1 < parser.0.len() {
            assert!(parser.is("export"), "{:?}", &parser.0[parser.1..]);
            if parser.is("const") {
                while !parser.is(";") {
                    parser.next();
                }
                continue;
            }
            let is_interface = parser.is("interface");
            assert!(is_interface || parser.is("type"), "{:?}", &parser.0[parser.1..]);
            let name = parser.next();
            assert!(parser.is(if is_interface { "{" } else { "=" }));
            let ty = if is_interface { parser.fields() } else { parser.ty() };
            parser.is(";");
            all.insert(name, ty);
        }
        Types(all)
    }

    /// What of a value is not as its type says; an answer may also have the version and nothing else.
    pub fn wrong(&self, name: &str, value: &Value) -> Option<String> {
        self.differs(&Type::Named(name.to_owned()), value, name)
    }

    fn differs(&self, ty: &Type, value: &Value, at: &str) -> Option<String> {
        let unless = |fits: bool| (!fits).then(|| format!("{at}: {ty:?} is {value}"));
        match ty {
            Type::Named(name) => match name.as_str() {
                "string" => unless(value.is_string()),
                "number" => unless(value.is_number()),
                "boolean" => unless(value.is_boolean()),
                "null" => unless(value.is_null()),
                "unknown" => None,
                other => self.differs(&self.0[other], value, at),
            },
            Type::Text(text) => unless(value.as_str() == Some(text)),
            Type::Any(all) => {
                let found: Vec<String> = all.iter().map_while(|ty| self.differs(ty, value, at)).collect();
                (found.len() == all.len()).then(|| found.last().cloned().unwrap_or_default())
            }
            Type::List(ty) => match value.as_array() {
                Some(all) => all.iter().find_map(|v| self.differs(ty, v, at)),
                None => unless(false),
            },
            Type::Tuple(parts) => match value.as_array().filter(|all| all.len() == parts.len()) {
                Some(all) => parts.iter().zip(all).find_map(|(ty, v)| self.differs(ty, v, at)),
                None => unless(false),
            },
            Type::Record(ty) => match value.as_object() {
                Some(all) => all.iter().find_map(|(name, v)| self.differs(ty, v, &format!("{at}.{name}"))),
                None => unless(false),
            },
            Type::Fields(fields) => {
                let Some(all) = value.as_object() else { return unless(false) };
                let known = |name: &String| name == "version" || fields.iter().any(|f| f.name == *name);
                if let Some(other) = all.keys().find(|name| !known(name)) {
                    return Some(format!("{at} has a field `{other}` that the page does not know"));
                }
                fields.iter().find_map(|field| match all.get(&field.name) {
                    Some(value) => self.differs(&field.ty, value, &format!("{at}.{}", field.name)),
                    None if field.may_be_missing => None,
                    None => Some(format!("{at} lacks `{}`", field.name)),
                })
            }
        }
    }
}

/// A wrong answer is noticed: a field too many, one too few, another type.
#[test]
fn a_wrong_answer_is_noticed() {
    let types = Types::of_the_page();
    let right = serde_json::json!({ "full": "x", "name": "x", "value": { "kind": "number", "text": "1", "number": 1 } });
    assert_eq!(types.wrong("Read", &right), None);
    for (field, value) in [("more", Value::Null), ("name", Value::from(3)), ("value", Value::from("1"))] {
        let mut wrong = right.clone();
        wrong[field] = value;
        assert!(types.wrong("Read", &wrong).is_some(), "{wrong}");
    }
    let mut less = right;
    less.as_object_mut().unwrap().remove("full");
    assert!(types.wrong("Read", &less).is_some());
}

/// The file is what the types of the answers give; `QUOTIENT_BLESS=1` writes it.
#[test]
fn types_of_the_page_are_made_from_those_of_the_answers() {
    let made = quotient_explorer::page_types();
    if std::env::var_os("QUOTIENT_BLESS").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/web/src/types.ts"), &made).unwrap();
    }
    let file = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/web/src/types.ts")).unwrap();
    assert!(
        made == file,
        "web/src/types.ts is not what explorer/src/api gives: run this test with QUOTIENT_BLESS=1"
    );
}
