//! The syntax tree of a BIR system, with names as written. Nothing here has been checked beyond the grammar.

use std::rc::Rc;

use quotient_formula::Quantifier;
use quotient_source::Span;

/// A name and where it stands.
#[derive(Clone, Debug)]
pub struct Name {
    /// The name; quoted names keep their delimiters.
    pub text: Rc<str>,
    /// Where.
    pub span: Span,
}

/// A whole file: `system id { … }`.
#[derive(Clone, Debug)]
pub struct System {
    /// Its name.
    pub name: Name,
    /// What it declares, in order.
    pub members: Vec<Member>,
}

/// A declaration of a system.
#[derive(Clone, Debug)]
pub enum Member {
    /// `const C { … }`
    Const(ConstBlock),
    /// `enum E { … }`
    Enum(Enumeration),
    /// `record R { … }`
    Record(Record),
    /// `extension X for Y { … }`
    Extension(Extension),
    /// `typealias A T;`
    Alias(Alias),
    /// A global variable.
    Global(Variable),
    /// `thread T() { … }`
    Thread(Thread),
    /// `function f() { … }`
    Function(Function),
    /// `virtual v { … }`
    Virtual(VirtualTable),
    /// `fun f() returns T = e;`
    Fun(Fun),
}

/// `const id { elem = lit; … }`
#[derive(Clone, Debug)]
pub struct ConstBlock {
    /// Its name.
    pub name: Name,
    /// The constants.
    pub elements: Vec<Constant>,
}

/// One constant.
#[derive(Clone, Debug)]
pub struct Constant {
    /// Its name.
    pub name: Name,
    /// The type it was cast to.
    pub ty: Option<Type>,
    /// Its value: a literal, a negated literal, or another constant.
    pub value: Expr,
}

/// `enum id { a, b }`
#[derive(Clone, Debug)]
pub struct Enumeration {
    /// Its name.
    pub name: Name,
    /// The elements in order.
    pub elements: Vec<Name>,
}

/// `top? throwable? record id extends … { fields }`
#[derive(Clone, Debug)]
pub struct Record {
    /// Its name.
    pub name: Name,
    /// The one record every other one extends.
    pub top: bool,
    /// May be thrown.
    pub throwable: bool,
    /// Its parents.
    pub parents: Vec<Name>,
    /// Its own fields.
    pub fields: Vec<(Type, Name)>,
}

/// `extension id for class { … }`
#[derive(Clone, Debug)]
pub struct Extension {
    /// The name the system uses.
    pub name: Name,
    /// What implements it; for a dotted name the whole name.
    pub class: Name,
    /// What it declares.
    pub definitions: Vec<Definition>,
}

/// A type or operation of an extension.
#[derive(Clone, Debug)]
pub struct Definition {
    /// What it is.
    pub kind: DefinitionKind,
    /// Its name.
    pub name: Name,
    /// Its type variables.
    pub variables: Vec<Name>,
    /// The types of its parameters.
    pub params: Vec<Type>,
    /// The last parameter may be repeated.
    pub variadic: bool,
}

/// Kinds of definitions.
#[derive(Clone, Debug)]
pub enum DefinitionKind {
    /// `typedef` or (the flag) `ptypedef`.
    Type(bool),
    /// `expdef`, with its result.
    Expression(Type),
    /// `actiondef`.
    Action,
}

/// `typealias id T;`
#[derive(Clone, Debug)]
pub struct Alias {
    /// The new name.
    pub name: Name,
    /// What it stands for.
    pub ty: Type,
}

/// A global or local variable, or a parameter.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its type.
    pub ty: Type,
    /// Its name.
    pub name: Name,
    /// Its initial value.
    pub value: Option<Expr>,
}

/// A kind of thread.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Its name.
    pub name: Name,
    /// How many are alive at the start: `active` and `main` mean one.
    pub active: Option<Expr>,
    /// Parameters.
    pub params: Vec<Variable>,
    /// Local variables.
    pub locals: Vec<Variable>,
    /// What it does.
    pub body: Body,
}

/// A function: it has a frame of its own and may block.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: Name,
    /// Parameters.
    pub params: Vec<Variable>,
    /// What it returns.
    pub returns: Option<Type>,
    /// Local variables.
    pub locals: Vec<Variable>,
    /// What it does.
    pub body: Body,
}

/// `virtual id on E { key -> function … }`
#[derive(Clone, Debug)]
pub struct VirtualTable {
    /// Its name.
    pub name: Name,
    /// The enumeration it dispatches on; records otherwise.
    pub on: Option<Name>,
    /// The entries.
    pub entries: Vec<(Name, Name)>,
}

/// A pure function: an expression with parameters.
#[derive(Clone, Debug)]
pub struct Fun {
    /// Its name.
    pub name: Name,
    /// Parameters.
    pub params: Vec<Variable>,
    /// What it returns.
    pub returns: Type,
    /// Its value.
    pub value: Expr,
}

/// The code of a thread or function.
#[derive(Clone, Debug)]
pub enum Body {
    /// Locations and catch clauses.
    Low(Vec<Location>, Vec<Catch>),
    /// Structured statements.
    High(Vec<Statement>),
}

/// `loc id: live {…} transformations`
#[derive(Clone, Debug)]
pub struct Location {
    /// Its name.
    pub name: Name,
    /// The locals that are kept.
    pub live: Option<Vec<Name>>,
    /// The ways on.
    pub transformations: Vec<Transformation>,
}

/// A guarded step.
#[derive(Clone, Debug)]
pub struct Transformation {
    /// `when`
    pub guard: Option<Expr>,
    /// What it does.
    pub work: Work,
    /// Where it goes.
    pub jump: Jump,
    /// The whole of it.
    pub span: Span,
}

/// What a transformation does.
#[derive(Clone, Debug)]
pub enum Work {
    /// `do { … }`
    Do(Vec<Action>),
    /// `x := invoke f(…)`
    Invoke(Invoke),
}

/// A call of a function.
#[derive(Clone, Debug)]
pub struct Invoke {
    /// Where the result goes.
    pub result: Option<Expr>,
    /// Dispatched through a virtual table.
    pub is_virtual: bool,
    /// The function or virtual table.
    pub target: Name,
    /// The arguments.
    pub args: Vec<Expr>,
    /// The whole of it.
    pub span: Span,
}

/// Where a transformation leads.
#[derive(Clone, Debug)]
pub enum Jump {
    /// To a location.
    Goto(Name),
    /// Out of the function or thread.
    Return(Option<Expr>),
}

/// `catch R x at l1, l2 goto l3;`
#[derive(Clone, Debug)]
pub struct Catch {
    /// What is caught.
    pub record: Name,
    /// The local it is stored in.
    pub variable: Name,
    /// Where it must have been thrown.
    pub at: Vec<Name>,
    /// Where it leads.
    pub jump: Jump,
}

/// A structured statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What it is.
    pub kind: StatementKind,
    /// Where; for a compound statement its head.
    pub span: Span,
}

/// Kinds of structured statements.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// `atomic … end`
    Atomic(Vec<Statement>),
    /// `while e do … end`
    While(Expr, Vec<Statement>),
    /// `if e do … elseif e do … else do … end`
    If(Vec<(Expr, Vec<Statement>)>, Option<Vec<Statement>>),
    /// `choose when <e> do … else do … end`
    Choose(Vec<(Option<Expr>, Vec<Statement>)>, Option<Vec<Statement>>),
    /// `try … catch (R x) … end`
    Try(Vec<Statement>, Vec<Handler>),
    /// `return e;`
    Return(Option<Expr>),
    /// One action.
    Action(Action),
    /// A call.
    Invoke(Invoke),
    /// `skip;`
    Skip,
}

/// `catch (R x) …` of a `try`.
#[derive(Clone, Debug)]
pub struct Handler {
    /// What is caught.
    pub record: Name,
    /// The local it is stored in: a declared one, or a new one of type `record`.
    pub variable: Name,
    /// What is done then.
    pub body: Vec<Statement>,
}

/// A change of the state.
#[derive(Clone, Debug)]
pub struct Action {
    /// What it does.
    pub kind: ActionKind,
    /// Where.
    pub span: Span,
}

/// Kinds of actions.
#[derive(Clone, Debug)]
pub enum ActionKind {
    /// `lhs := e;`
    Assign(Expr, Expr),
    /// `assert e;`
    Assert(Expr),
    /// `assume e;`
    Assume(Expr),
    /// `throw e;`
    Throw(Expr),
    /// `exit;`
    Exit,
    /// `lock(e);` and its kin.
    Lock(LockOp, Expr),
    /// `x := start T(…);`
    Start {
        /// Where the id goes.
        result: Option<Expr>,
        /// The thread.
        thread: Name,
        /// Its arguments.
        args: Vec<Expr>,
    },
    /// `X.a<…>(…);`
    Extension(ExtensionUse),
}

/// Operations on locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LockOp {
    /// `lock`
    Lock,
    /// `unlock`
    Unlock,
    /// `wait`
    Wait,
    /// `unwait`
    Unwait,
    /// `notify`
    Notify,
    /// `notifyAll`
    NotifyAll,
}

/// Questions about locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LockTest {
    /// `lockAvailable`
    LockAvailable,
    /// `hasLock`
    HasLock,
    /// `wasNotified`
    WasNotified,
}

/// A use of an extension's operation.
#[derive(Clone, Debug)]
pub struct ExtensionUse {
    /// The extension.
    pub extension: Name,
    /// The operation.
    pub operation: Name,
    /// Type arguments.
    pub types: Vec<Type>,
    /// Arguments.
    pub args: Vec<Expr>,
}

/// A type as written.
#[derive(Clone, Debug)]
pub struct Type {
    /// What it is.
    pub kind: TypeKind,
    /// Where.
    pub span: Span,
}

/// Kinds of types.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// `boolean`
    Boolean,
    /// `int` or (the flag) `long`, with its range.
    Integer(bool, Option<Range>),
    /// `float` or (the flag) `double`.
    Real(bool),
    /// `tid`
    Tid,
    /// `string`
    String,
    /// `lock`
    Lock,
    /// A record, enumeration or alias.
    Named(Name),
    /// `X.t<…>`
    Extension(Name, Name, Vec<Type>),
    /// `T[]`
    Array(Box<Type>),
    /// `` `a ``
    Variable(Name),
    /// `a * b -> c`; `unit` is an empty list.
    Function(Vec<Type>, Box<Type>),
}

/// `wrap (lo, hi)`
#[derive(Clone, Debug)]
pub struct Range {
    /// Wraps around instead of being a fault.
    pub wrap: bool,
    /// The least value.
    pub low: Box<Expr>,
    /// The greatest value.
    pub high: Box<Expr>,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where.
    pub span: Span,
    /// Height of the tree; bounded, so that walks may recurse.
    pub height: u16,
}

/// Kinds of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// `true`, `false`
    Boolean(bool),
    /// An integer; the flag marks a `long`.
    Integer(i64, bool),
    /// A real number as written.
    Real(Rc<str>, bool),
    /// A string.
    String(Rc<str>),
    /// `null`
    Null,
    /// A variable.
    Name(Name),
    /// `e.f`, and also `C.n` of a constant and `E.a` of an enumeration.
    Field(Box<Expr>, Name),
    /// `a[i]`
    Index(Box<Expr>, Box<Expr>),
    /// A prefix operator.
    Unary(Unary, Box<Expr>),
    /// An infix operator.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// `c ? a : b`
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `new R`
    NewRecord(Name),
    /// `new lock`
    NewLock,
    /// `new X.t<…>`
    NewExtension(Type),
    /// `new T[e]…[]…`: element type, lengths, number of dimensions left open.
    NewArray(Type, Vec<Expr>, usize),
    /// `(T) e`
    Cast(Type, Box<Expr>),
    /// `e instanceof T` or (the flag) `e kindof T`.
    TypeTest(bool, Box<Expr>, Type),
    /// `hasLock(e)` and its kin.
    LockTest(LockTest, Box<Expr>),
    /// `threadTerminated(e)`
    Terminated(Box<Expr>),
    /// `let x = e in e`
    Let(Vec<(Name, Expr)>, Box<Expr>),
    /// `f(…)` of a `fun`.
    Call(Name, Vec<Expr>),
    /// `X.e<…>(…)`
    Extension(ExtensionUse),
    /// `t@l`: the thread stands at the location. The name is a variable of a quantifier, or of a kind of thread: its oldest
    /// one. Only in propositions.
    At(Name, Name),
    /// `t:x`: a local variable of the thread that a quantifier's variable names. Only in propositions.
    Remote(Name, Name),
    /// `forall t: T . e` and its kin. Only in propositions.
    Quantified(Quantifier, Name, Name, Box<Expr>),
}

/// Prefix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `!`
    Not,
}

/// Infix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
    /// `>>>`
    Ushr,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `=>`
    Implies,
    /// Both or none: only in propositions.
    Equivalent,
    /// `&`
    BitAnd,
    /// `|`
    BitOr,
    /// `^`
    BitXor,
}

impl Binary {
    /// The operator as written.
    pub fn text(self) -> &'static str {
        match self {
            Binary::Add => "+",
            Binary::Sub => "-",
            Binary::Mul => "*",
            Binary::Div => "/",
            Binary::Rem => "%",
            Binary::Shl => "shl",
            Binary::Shr => "shr",
            Binary::Ushr => "ushr",
            Binary::Eq => "==",
            Binary::Ne => "!=",
            Binary::Gt => ">",
            Binary::Ge => ">=",
            Binary::Lt => "<",
            Binary::Le => "<=",
            Binary::And => "&&",
            Binary::Or => "||",
            Binary::Implies => "=>",
            Binary::Equivalent => "<->",
            Binary::BitAnd => "&",
            Binary::BitOr => "|",
            Binary::BitXor => "^",
        }
    }
}
