//! Advice for tokens that stand where they cannot.

use super::Parser;
use crate::token::Kind;

impl Parser<'_> {
    /// What the author most likely meant with the current token.
    pub(super) fn advice(&self) -> Option<String> {
        let text = match self.kind() {
            Kind::Punct("=") => "write `==` to compare; an assignment is a statement of its own",
            Kind::Punct("++" | "--") => "`x++` and `x--` are statements of their own",
            Kind::Punct("?") => {
                "`c?x` is a statement; `c?[x]` tests whether it is possible; `(c -> a : b)` chooses a value"
            }
            Kind::Punct("->") => "in an expression `->` needs parentheses: `(c -> a : b)`",
            Kind::Punct("}") if !self.in_sequence => "one `}` too many stands here, or one before it",
            Kind::Text(_) => "strings stand only in `printf(\"…\")`",
            Kind::Punct("::") => "options stand between `if` and `fi`, or `do` and `od`",
            Kind::Word(word) => return word_advice(word),
            _ => return None,
        };
        Some(text.to_string())
    }
}

fn word_advice(word: &str) -> Option<String> {
    let text = match word {
        "while" => "Promela has no `while`: write `do :: condition -> … :: else -> break od`",
        "switch" => "Promela has no `switch`: write `if :: (x == 1) -> … :: else -> skip fi`",
        "then" => "write `->` instead of `then`",
        "not" => "write `!`",
        "and" => "write `&&`",
        "or" => "write `||`",
        "mod" => "write `%`",
        "process" => "write `proctype`",
        "void" | "function" | "func" | "def" => {
            "Promela has no functions: use `inline f(…) { … }` or `proctype P(…) { … }`"
        }
        "struct" | "class" => "write `typedef T { … }`",
        "enum" => "write `mtype = { … }`",
        "const" | "let" | "var" => {
            "declare a variable with its type: `byte x = 1`; a constant is a `#define`"
        }
        "char" => "use `byte`",
        "else" => "`else` stands as the first statement after `::`",
        "inline" | "typedef" => "it must stand at the top level, after the `}` of the process before it",
        "assert" | "printf" | "goto" | "if" | "do" | "run" | "atomic" | "skip" | "break" => {
            "a statement starts after `;`, `->`, `::` or a line break, in the body of a proctype or of `init`"
        }
        "import" | "require" => "write `#include \"file\"`",
        _ => return None,
    };
    Some(text.to_string())
}
