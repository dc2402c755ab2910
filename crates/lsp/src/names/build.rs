//! Scopes and symbols while a text is gone through, and the rule of looking up: the innermost scope that declares the name, of what is
//! declared before the word if the scope's names count from their declaration on.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::token::{self, Token};
use super::{Included, Index, Kind, Meaning, Symbol, SymbolId};

/// The number of a scope; the first is that of the whole text.
pub(super) type ScopeId = usize;

#[derive(Debug)]
struct Scope {
    parent: Option<ScopeId>,
    /// The process, function or type whose scope this is.
    owner: Option<SymbolId>,
    /// By name: the symbols, with the token from which on they are known. Labels have a space of their own.
    names: HashMap<(String, bool), Vec<(usize, SymbolId)>>,
}

/// What a word is looked up as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    Names,
    Labels,
}

pub(super) struct Builder<'a> {
    pub(super) text: &'a str,
    pub(super) tokens: Vec<Token>,
    scopes: Vec<Scope>,
    symbols: Vec<Symbol>,
    /// By token: the scope that it stands in.
    scope_of: Vec<ScopeId>,
    /// Tokens that declare a symbol.
    declared: HashMap<usize, SymbolId>,
    /// Tokens that are labels where they stand.
    pub(super) labels: std::collections::HashSet<usize>,
    /// The scopes of a symbol's members.
    members: HashMap<SymbolId, ScopeId>,
    stack: Vec<ScopeId>,
    included: Vec<Included>,
    uses: BTreeMap<usize, (usize, Meaning)>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(text: &'a str, tokens: Vec<Token>, included: Vec<Included>) -> Builder<'a> {
        let scope_of = vec![0; tokens.len()];
        let whole = Scope { parent: None, owner: None, names: HashMap::new() };
        Builder {
            text,
            tokens,
            scopes: vec![whole],
            symbols: Vec::new(),
            scope_of,
            declared: HashMap::new(),
            labels: Default::default(),
            members: HashMap::new(),
            stack: vec![0],
            included,
            uses: BTreeMap::new(),
        }
    }

    // Tokens.

    /// The text of a token; nothing past the end.
    pub(super) fn at(&self, token: usize) -> &'a str {
        self.tokens.get(token).map_or("", |t| &self.text[t.range.clone()])
    }

    /// The token before one, of the same group.
    pub(super) fn before(&self, token: usize) -> &'a str {
        self.previous(token).map_or("", |before| self.at(before))
    }

    pub(super) fn previous(&self, token: usize) -> Option<usize> {
        let before = token.checked_sub(1)?;
        let group = |token: usize| self.tokens.get(token).map(|t| t.group);
        (group(before) == group(token)).then_some(before)
    }

    /// The token after one, of the same group.
    pub(super) fn after(&self, token: usize) -> &'a str {
        let group = |token: usize| self.tokens.get(token).map(|t| t.group);
        if group(token + 1) == group(token) { self.at(token + 1) } else { "" }
    }

    pub(super) fn is_word(&self, token: usize) -> bool {
        self.tokens.get(token).is_some_and(|t| t.kind == token::Kind::Word)
    }

    pub(super) fn range(&self, token: usize) -> Range<usize> {
        self.tokens.get(token).map_or(self.text.len()..self.text.len(), |t| t.range.clone())
    }

    /// The token at which a bracket that closes at `token` was opened.
    pub(super) fn opened(&self, token: usize) -> Option<usize> {
        let mut depth = 0usize;
        let mut at = token;
        loop {
            match self.at(at) {
                "]" | ")" | "}" => depth += 1,
                "[" | "(" | "{" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return Some(at);
            }
            at = self.previous(at)?;
        }
    }

    /// The word that a reference ends with before `token`: of `a[i]` and of `a` it is `a`.
    pub(super) fn base(&self, token: usize) -> Option<usize> {
        let mut at = self.previous(token)?;
        while self.at(at) == "]" {
            at = self.previous(self.opened(at)?)?;
        }
        self.is_word(at).then_some(at)
    }

    // Scopes.

    /// Notes the scope of a token.
    pub(super) fn visit(&mut self, token: usize) {
        self.scope_of[token] = self.scope();
    }

    pub(super) fn scope(&self) -> ScopeId {
        // The scope of the whole text is never closed.
        *self.stack.last().unwrap_or(&0)
    }

    pub(super) fn open(&mut self, owner: Option<SymbolId>) -> ScopeId {
        let parent = self.scope();
        let owner = owner.or(self.scopes[parent].owner);
        self.scopes.push(Scope { parent: Some(parent), owner, names: HashMap::new() });
        self.stack.push(self.scopes.len() - 1);
        self.scopes.len() - 1
    }

    /// Closes the innermost scope; that of the whole text stays.
    pub(super) fn close(&mut self) {
        if self.stack.len() > 1 {
            self.stack.pop();
        }
    }

    /// Opens a scope of members.
    pub(super) fn open_members(&mut self, symbol: SymbolId) {
        let scope = self.open(Some(symbol));
        self.members.insert(symbol, scope);
    }

    /// Is this the scope of a type's members?
    pub(super) fn is_member_scope(&self, scope: ScopeId) -> bool {
        self.members.values().any(|members| *members == scope)
    }

    /// The outermost scope around that belongs to a process or function.
    pub(super) fn owner_scope(&self) -> ScopeId {
        self.stack.iter().copied().find(|scope| self.scopes[*scope].owner.is_some()).unwrap_or(0)
    }

    /// Is there a process with this name, so far?
    pub(super) fn is_thread(&self, name: &str) -> bool {
        self.symbols.iter().any(|s| s.kind == Kind::Thread && s.name == name)
    }

    // Symbols.

    /// Declares the word `token` in a scope, known from the token `from` on.
    pub(super) fn declare(&mut self, token: usize, kind: Kind, scope: ScopeId, from: usize) -> SymbolId {
        let name = self.at(token).to_owned();
        let range = self.range(token);
        let id = self.symbols.len();
        let owner = self.scopes[scope].owner;
        self.symbols.push(Symbol { name: name.clone(), kind, whole: range.clone(), range, owner, ty: None });
        self.scopes[scope].names.entry((name, kind == Kind::Label)).or_default().push((from, id));
        self.declared.insert(token, id);
        id
    }

    /// Declares a word that may have been declared in the scope before: then it is the same thing.
    pub(super) fn declare_again(&mut self, token: usize, kind: Kind, scope: ScopeId) -> SymbolId {
        let known = self.scopes[scope].names.get(&(self.at(token).to_owned(), kind == Kind::Label));
        match known.and_then(|known| known.first()).map(|(_, id)| *id) {
            Some(id) => {
                self.declared.insert(token, id);
                id
            }
            None => self.declare(token, kind, scope, 0),
        }
    }

    /// Says what a symbol's type is called, and where its declaration lies.
    pub(super) fn typed(&mut self, symbol: SymbolId, ty: Option<String>, whole: Range<usize>) {
        self.symbols[symbol].ty = ty;
        self.symbols[symbol].whole = whole;
    }

    /// The declaration of a symbol goes on up to a token.
    pub(super) fn extends_to(&mut self, symbol: SymbolId, token: usize) {
        let end = self.range(token).end;
        let whole = &mut self.symbols[symbol].whole;
        whole.end = whole.end.max(end);
    }

    pub(super) fn begins_at(&mut self, symbol: SymbolId, token: usize) {
        let start = self.range(token).start;
        let whole = &mut self.symbols[symbol].whole;
        whole.start = whole.start.min(start);
    }

    // Looking up.

    /// What a word that stands at `token` means, from its scope outwards.
    pub(super) fn lookup(&self, name: &str, token: usize, space: Space) -> Option<Meaning> {
        let mut scope = self.scope_of.get(token).copied();
        while let Some(id) = scope {
            if let Some(symbol) = self.found(id, name, token, space) {
                return Some(Meaning { file: None, symbol });
            }
            scope = self.scopes[id].parent;
        }
        let known = |included: &Included| {
            let wanted = |s: &Symbol| s.name == name && s.owner.is_none() && s.kind != Kind::Label;
            included.index.symbols.iter().position(wanted)
        };
        let mut files = self.included.iter().enumerate();
        files.find_map(|(file, i)| Some(Meaning { file: Some(file), symbol: known(i)? }))
    }

    fn found(&self, scope: ScopeId, name: &str, token: usize, space: Space) -> Option<SymbolId> {
        let names = self.scopes[scope].names.get(&(name.to_owned(), space == Space::Labels))?;
        names.iter().rev().find(|(from, _)| *from <= token).map(|(_, id)| *id)
    }

    /// A symbol of the text itself.
    pub(super) fn symbol(&self, meaning: Meaning) -> Option<&Symbol> {
        match meaning.file {
            None => self.symbols.get(meaning.symbol),
            Some(file) => self.included.get(file)?.index.symbols.get(meaning.symbol),
        }
    }

    /// Something of a process, function or type, in any of its blocks.
    pub(super) fn inside(&self, owner: SymbolId, name: &str, label: bool) -> Option<Meaning> {
        let wanted =
            |s: &Symbol| s.owner == Some(owner) && s.name == name && (s.kind == Kind::Label) == label;
        let symbol = self.symbols.iter().position(wanted)?;
        Some(Meaning { file: None, symbol })
    }

    /// The only symbol of a kind with this name.
    pub(super) fn unique(&self, name: &str, kind: Kind) -> Option<Meaning> {
        let mut all = self.symbols.iter().enumerate().filter(|(_, s)| s.kind == kind && s.name == name);
        let symbol = all.next()?.0;
        all.next().is_none().then_some(Meaning { file: None, symbol })
    }

    /// A member of what stands before the dot before `token`.
    pub(super) fn member(&self, token: usize) -> Option<Meaning> {
        let name = self.at(token);
        let base = self.base(self.previous(token)?);
        let by_type = base.and_then(|base| self.owner_of_members(base)).and_then(|owner| {
            let scope = *self.members.get(&owner)?;
            let symbol = self.found(scope, name, usize::MAX, Space::Names)?;
            Some(Meaning { file: None, symbol })
        });
        by_type.or_else(|| self.unique(name, Kind::Field))
    }

    /// The type whose members follow a word and a dot.
    fn owner_of_members(&self, word: usize) -> Option<SymbolId> {
        let meaning = match self.before(word) {
            "." => self.member(word)?,
            _ => self.lookup(self.at(word), word, Space::Names)?,
        };
        let symbol = self.symbol(meaning)?;
        if symbol.kind == Kind::Type {
            return meaning.file.is_none().then_some(meaning.symbol);
        }
        let ty = symbol.ty.as_ref()?;
        self.symbols.iter().position(|s| s.kind == Kind::Type && s.name == *ty)
    }

    /// Looks every word up.
    pub(super) fn resolve(&mut self, meaning: fn(&Builder<'_>, usize) -> Option<Meaning>) {
        for token in 0..self.tokens.len() {
            if !self.is_word(token) {
                continue;
            }
            let own = self.declared.get(&token).map(|symbol| Meaning { file: None, symbol: *symbol });
            if let Some(meaning) = own.or_else(|| meaning(self, token)) {
                let range = self.range(token);
                self.uses.insert(range.start, (range.end, meaning));
            }
        }
    }

    pub(super) fn index(self) -> Index {
        Index { symbols: self.symbols, uses: self.uses, included: self.included }
    }
}
