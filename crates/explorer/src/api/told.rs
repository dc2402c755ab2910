//! How Rust types reach the page: each says its JSON and its type in TypeScript, so that there is one definition of both.

use std::collections::BTreeMap;
use std::fmt::Write;

use quotient_outcome as outcome;
use serde_json::{Map, Value as Json};

/// Something that the page is told.
pub trait Told {
    /// As JSON.
    fn json(&self) -> Json;
    /// Its type in TypeScript.
    fn ty() -> String;
}

macro_rules! plain {
    ($($rust:ty => $script:literal),*) => { $(
        impl Told for $rust {
            fn json(&self) -> Json {
                self.clone().into()
            }
            fn ty() -> String {
                $script.into()
            }
        }
    )* };
}

plain!(String => "string", bool => "boolean", u32 => "number", u64 => "number", usize => "number", f64 => "number");

impl Told for &'static str {
    fn json(&self) -> Json {
        (*self).into()
    }
    fn ty() -> String {
        "string".into()
    }
}

impl<T: Told> Told for Option<T> {
    fn json(&self) -> Json {
        self.as_ref().map_or(Json::Null, T::json)
    }
    fn ty() -> String {
        format!("{} | null", T::ty())
    }
}

impl<T: Told> Told for Vec<T> {
    fn json(&self) -> Json {
        self.iter().map(T::json).collect()
    }
    fn ty() -> String {
        let ty = T::ty();
        if ty.contains(' ') && !ty.starts_with('[') { format!("({ty})[]") } else { format!("{ty}[]") }
    }
}

impl<A: Told, B: Told> Told for (A, B) {
    fn json(&self) -> Json {
        Json::Array(vec![self.0.json(), self.1.json()])
    }
    fn ty() -> String {
        format!("[{}, {}]", A::ty(), B::ty())
    }
}

impl<T: Told> Told for BTreeMap<String, T> {
    fn json(&self) -> Json {
        self.iter().map(|(name, value)| (name.clone(), value.json())).collect::<Map<_, _>>().into()
    }
    fn ty() -> String {
        format!("Record<string, {}>", T::ty())
    }
}

/// Whole numbers, packed: a digit that says in how many bytes each is, and they themselves, the lowest byte first, in base 64. A long run has
/// many, and nobody reads them one by one as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packed(pub Vec<i32>);

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

impl Told for Packed {
    fn json(&self) -> Json {
        let width = self.width();
        let moved = self.0.iter().map(|n| if width == 4 { *n } else { n + 1 }.to_le_bytes());
        let bytes: Vec<u8> = moved.flat_map(|n| n.into_iter().take(width)).collect();
        let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4 + 1);
        text.push(char::from(b'0' + width as u8));
        for chunk in bytes.chunks(3) {
            let mut bits = [0; 4];
            bits[1..=chunk.len()].copy_from_slice(chunk);
            let bits = u32::from_be_bytes(bits);
            for digit in 0..4 {
                let sign = if digit <= chunk.len() {
                    DIGITS[(bits >> (18 - 6 * digit)) as usize & 63]
                } else {
                    b'='
                };
                text.push(char::from(sign));
            }
        }
        text.into()
    }
    fn ty() -> String {
        "Packed".into()
    }
}

impl Packed {
    /// How many bytes each number takes: in one and two bytes it is one larger, so that -1, which stands for nothing, fits.
    fn width(&self) -> usize {
        let all_below = |most: i32| self.0.iter().all(|n| (-1..most).contains(n));
        [(1, 0xff), (2, 0xffff)].into_iter().find(|(_, most)| all_below(*most)).map_or(4, |(width, _)| width)
    }

    /// Reads what [`Told::json`] wrote; empty where it is something else.
    pub fn read(text: &Json) -> Packed {
        let digit = |sign: u8| DIGITS.iter().position(|d| *d == sign).unwrap_or(0) as u32;
        let text = text.as_str().unwrap_or("").trim_end_matches('=').as_bytes();
        let Some((width, text)) = text.split_first() else { return Packed::default() };
        let width = usize::from(width.saturating_sub(b'0')).clamp(1, 4);
        let bytes: Vec<u8> = text
            .chunks(4)
            .flat_map(|chunk| {
                let bits = (0..4).fold(0, |bits, i| bits << 6 | chunk.get(i).map_or(0, |sign| digit(*sign)));
                bits.to_be_bytes()[1..chunk.len()].to_vec()
            })
            .collect();
        let number = |n: &[u8]| n.iter().rev().fold(0, |number: i32, byte| number << 8 | i32::from(*byte));
        let less = i32::from(width < 4);
        Packed(bytes.chunks_exact(width).map(|n| number(n) - less).collect())
    }
}

/// Types of traces (`docs/schema.json`), which have their JSON from there.
macro_rules! of_traces {
    ($($name:ident),*) => { $(
        impl Told for outcome::$name {
            fn json(&self) -> Json {
                outcome::$name::json(self)
            }
            fn ty() -> String {
                stringify!($name).into()
            }
        }
    )* };
}

of_traces!(Value, Read, Write, Event, Failed);

impl Told for outcome::Frame {
    fn json(&self) -> Json {
        outcome::json::frames(std::slice::from_ref(self))[0].take()
    }
    fn ty() -> String {
        "Frame".into()
    }
}

/// What `Told::ty` names and is not defined by a macro.
pub(super) const GIVEN: &str = "\
/** Whole numbers: a digit says in how many bytes each is, the lowest first; they follow in base 64, in one or two bytes each one larger. */
export type Packed = string;

/** A value of a program, as in traces: `text` shows it. */
export interface Value { kind: string; text: string; number?: number; pid?: number; items?: unknown[]; holder?: number | null; count?: number }
export interface Read { full: string; name: string; value: Value }
export interface Write { full: string; name: string; before: Value | null; after: Value | null }
export interface Failed { text: string; values: string; reads: Read[] }
export interface Event {
  kind: string; channel?: string; message?: Value[]; partner?: number | null; object?: string; process?: string;
  text?: string; holds?: boolean; stays?: boolean; threads?: number[];
}
export interface Frame { function: string; file: string; line: number }
";

/// Defines what the page is told: structures with their JSON, and their interfaces in TypeScript.
macro_rules! answers {
    ($( $(#[doc = $doc:literal])* $name:ident { $( $(#[doc = $about:literal])* $field:ident: $ty:ty ),* $(,)? } )*) => {
        $(
            $(#[doc = $doc])*
            #[derive(Clone, Debug)]
            pub struct $name {
                $( $(#[doc = $about])* pub $field: $ty, )*
            }

            impl $crate::api::told::Told for $name {
                fn json(&self) -> serde_json::Value {
                    let mut fields = serde_json::Map::new();
                    $( fields.insert($crate::api::told::name(stringify!($field)), $crate::api::told::Told::json(&self.$field)); )*
                    fields.into()
                }
                fn ty() -> String {
                    stringify!($name).into()
                }
            }
        )*

        /// The interfaces, in TypeScript.
        fn interfaces() -> String {
            let mut out = String::new();
            $(
                let fields: &[(&str, &str, String)] = &[
                    $( (stringify!($field), concat!($($about),*), <$ty as $crate::api::told::Told>::ty()), )*
                ];
                $crate::api::told::interface(&mut out, stringify!($name), concat!($($doc),*), fields);
            )*
            out
        }
    };
}

/// Defines words: an enumeration, each value with its word.
macro_rules! words {
    ($( $(#[doc = $doc:literal])* $name:ident { $( $(#[doc = $about:literal])* $value:ident = $word:literal ),* $(,)? } )*) => {
        $(
            $(#[doc = $doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub enum $name { $( $(#[doc = $about])* $value, )* }

            impl $name {
                /// Its word.
                pub fn word(self) -> &'static str {
                    match self { $($name::$value => $word),* }
                }
            }

            impl $crate::api::told::Told for $name {
                fn json(&self) -> serde_json::Value {
                    self.word().into()
                }
                fn ty() -> String {
                    stringify!($name).into()
                }
            }
        )*

        /// The words, in TypeScript.
        fn all_words() -> String {
            let mut out = String::new();
            $( $crate::api::told::union(&mut out, stringify!($name), concat!($($doc),*), &[$($word),*]); )*
            out
        }
    };
}

pub(crate) use {answers, words};

/// The name of a field, also where it is a word of Rust's.
pub(super) fn name(field: &str) -> String {
    field.trim_start_matches("r#").to_owned()
}

fn comment(out: &mut String, indent: &str, doc: &str) {
    if !doc.is_empty() {
        let _ = writeln!(out, "{indent}/** {} */", doc.trim());
    }
}

pub(super) fn interface(out: &mut String, called: &str, doc: &str, fields: &[(&str, &str, String)]) {
    comment(out, "", doc);
    let _ = writeln!(out, "export interface {called} {{");
    for (field, about, ty) in fields {
        comment(out, "  ", about);
        let _ = writeln!(out, "  {}: {ty};", name(field));
    }
    out.push_str("}\n");
}

pub(super) fn union(out: &mut String, called: &str, doc: &str, words: &[&str]) {
    let quoted: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
    comment(out, "", doc);
    let _ = writeln!(out, "export type {called} = {};", quoted.join(" | "));
    let _ = writeln!(out, "export const {called}s: readonly {called}[] = [{}];", quoted.join(", "));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_numbers_come_back() {
        for numbers in [
            vec![],
            vec![0],
            vec![1, -1],
            vec![i32::MIN, i32::MAX, 7],
            (-500..500).collect(),
            (-1..255).collect(),
            (-1..256).collect(),
            (-1..70_000).collect(),
        ] {
            let packed = Packed(numbers);
            assert_eq!(Packed::read(&packed.json()), packed);
        }
        assert_eq!(Packed(vec![1, 2]).json(), "1AgM=");
        assert_eq!(Packed(vec![1, 300]).json(), "2AgAtAQ==");
        assert_eq!(Packed(vec![1, -2]).json(), "4AQAAAP7///8=");
    }
}
