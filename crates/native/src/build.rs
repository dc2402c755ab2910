//! From source files to a program that can be checked.

use std::ffi::OsString;
use std::fmt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::scratch::Scratch;

/// The runtime library, built with this crate: its length in eight bytes, then compressed.
static RUNTIME: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libquotient_runtime.so.z"));

/// What is to be built.
#[derive(Clone, Debug, Default)]
pub struct Build {
    /// C or C++ files, objects, archives.
    pub sources: Vec<PathBuf>,
    /// Flags for compiler and linker.
    pub flags: Vec<OsString>,
    /// The compiler; if none is given: `$CC` or `$CXX`, else `cc` or `c++`.
    pub compiler: Option<OsString>,
}

/// A program that can be checked.
#[derive(Debug)]
pub struct Binary {
    path: PathBuf,
    /// Kept so that the file exists as long as this value.
    _scratch: Option<Scratch>,
    /// Variables that the compiler has seen to be used without a value, with their places.
    uninitialised: Vec<String>,
    /// Its accesses without a hook, once somebody has asked.
    holes: std::sync::OnceLock<Vec<crate::protocol::Hole>>,
    counted: std::sync::OnceLock<Vec<crate::protocol::Counted>>,
}

/// Why there is no program.
#[derive(Debug)]
pub enum BuildError {
    /// The compiler could not be started.
    Compiler(OsString, std::io::Error),
    /// The compiler found errors: its messages.
    Rejected(String),
    /// Files could not be written.
    File(PathBuf, std::io::Error),
    /// The machine is none that programs can be checked on.
    Platform,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Compiler(name, error) => {
                write!(f, "cannot start the compiler `{}`: {error}", name.to_string_lossy())
            }
            BuildError::Rejected(messages) => {
                write!(f, "the compiler refuses the program\n{}", messages.trim_end())?;
                advice(messages).map_or(Ok(()), |advice| write!(f, "\n{advice}"))
            }
            BuildError::File(path, error) => write!(f, "cannot write {}: {error}", path.display()),
            BuildError::Platform => f.write_str("native programs can be checked on x86-64 Linux only"),
        }
    }
}

impl std::error::Error for BuildError {}

/// What to do if a header is not found, or the linker does not find something, or finds it twice.
fn advice(messages: &str) -> Option<&'static str> {
    let lacks_function = messages.contains("undefined reference to") || messages.contains("undefined symbol");
    let lacks_header = messages.contains(".h: No such file") || messages.contains(".h' file not found");
    let lacks_library = messages.contains("cannot find -l") || messages.contains("unable to find library");
    if messages.contains("undefined reference to `main'") || messages.contains("undefined symbol: main") {
        Some("help: the program has no `main`; name the file that has it, too")
    } else if lacks_function && messages.contains("__VERIFIER_") {
        Some(
            "help: of the functions that verifiers give to programs, assumptions, atomic sections and values of the environment are known \
             (__VERIFIER_assume, __VERIFIER_atomic_begin, __VERIFIER_nondet_int and the like); others have to be written in C",
        )
    } else if lacks_function {
        Some(
            "help: a program may need further source files (named beside the first), or libraries, which go after `--` as for the \
             compiler: `-- -lm` for functions of <math.h>",
        )
    } else if messages.contains("multiple definition of") {
        Some(
            "help: a variable that several files define without a value (in a header without `extern`) is one variable for older \
             compilers only; with `-- -fcommon` for this one, too",
        )
    } else if lacks_header {
        Some("help: where headers are is said after `--`, as for the compiler: `-- -I FOLDER`")
    } else if lacks_library {
        Some("help: where a library is can be said after `--`, too: `-- -L FOLDER -lNAME`")
    } else {
        None
    }
}

/// Is this the name of a file that is C++?
pub fn is_cpp(path: &Path) -> bool {
    path.extension().is_some_and(|e| ["cc", "cpp", "cxx", "C", "c++", "ii"].iter().any(|known| e == *known))
}

/// Is this the name of a file that is to be checked as a native program?
pub fn is_native_source(path: &Path) -> bool {
    is_cpp(path) || path.extension().is_some_and(|e| e == "c" || e == "i")
}

/// Functions that compilers replace by instructions which access memory without hooks. All others stay built in, so that
/// those that a program does not declare (`malloc`) have the right type.
const NOT_BUILT_IN: [&str; 24] = [
    "memcpy",
    "mempcpy",
    "memmove",
    "memset",
    "memcmp",
    "memchr",
    "bcopy",
    "bzero",
    "bcmp",
    "strcpy",
    "stpcpy",
    "strncpy",
    "stpncpy",
    "strcat",
    "strncat",
    "strcmp",
    "strncmp",
    "strlen",
    "strnlen",
    "sprintf",
    "snprintf",
    "vsprintf",
    "vsnprintf",
    "strcasecmp",
];

/// Flags for every compilation.
pub fn compile_flags() -> Vec<OsString> {
    // The second sanitizer adds a comparison before an array is indexed (`bounds` in the runtime).
    let flags = [
        "-g",
        "-fno-omit-frame-pointer",
        "-fsanitize=thread",
        "-fsanitize=bounds",
        "-U_FORTIFY_SOURCE",
        "-fno-jump-tables",
    ];
    let calls = NOT_BUILT_IN.iter().map(|name| OsString::from(format!("-fno-builtin-{name}")));
    flags.iter().map(OsString::from).chain(calls).collect()
}

/// Flags for every link, with the runtime in `directory`.
pub fn link_flags(directory: &Path) -> Vec<OsString> {
    let mut rpath = OsString::from("-Wl,-rpath,");
    rpath.push(directory);
    let mut library = OsString::from("-L");
    library.push(directory);
    vec![library, rpath, "-Wl,--no-as-needed".into(), "-lquotient_runtime".into(), "-pthread".into()]
}

/// Puts the runtime library into a directory of the user's cache, if it is not there yet; gives the directory.
///
/// # Errors
/// If it cannot be written.
pub fn install_runtime() -> Result<PathBuf, BuildError> {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return Err(BuildError::Platform);
    }
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|p| p.is_absolute());
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    // A cache that cannot be written is done without.
    let bases = [cache.or_else(home), Some(std::env::temp_dir())];
    let mut result = Err(BuildError::Platform);
    for base in bases.into_iter().flatten() {
        result = install_in(&base);
        if result.is_ok() {
            break;
        }
    }
    result
}

fn install_in(base: &Path) -> Result<PathBuf, BuildError> {
    let directory = base.join("quotient").join(format!("runtime-{:016x}", checksum(RUNTIME)));
    let file = directory.join("libquotient_runtime.so");
    let failed = |error| BuildError::File(file.clone(), error);
    std::fs::create_dir_all(&directory).map_err(failed)?;
    // In a directory for everybody's files somebody else may have been first.
    // SAFETY: no memory is involved.
    let user = unsafe { libc::geteuid() };
    if std::fs::metadata(&directory).map_err(failed)?.uid() != user {
        return Err(failed(std::io::ErrorKind::PermissionDenied.into()));
    }
    let (length, compressed) = RUNTIME.split_first_chunk().ok_or(BuildError::Platform)?;
    if std::fs::metadata(&file).is_ok_and(|m| m.len() == u64::from_le_bytes(*length) && m.uid() == user) {
        return Ok(directory);
    }
    let runtime = miniz_oxide::inflate::decompress_to_vec_zlib(compressed)
        .map_err(|broken| failed(std::io::Error::other(broken.to_string())))?;
    // Written beside and renamed, so that nobody sees half of it; under a name that no other thread writes to.
    let beside = Scratch::new_in(&directory).map_err(failed)?;
    let partial = beside.path().join("libquotient_runtime.so");
    std::fs::write(&partial, runtime).map_err(failed)?;
    std::fs::rename(&partial, &file).map_err(failed)?;
    Ok(directory)
}

/// FNV-1a.
fn checksum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The compiler to use.
pub fn default_compiler(cpp: bool) -> OsString {
    let (variable, name) = if cpp { ("CXX", "c++") } else { ("CC", "cc") };
    // It may be this program, by whatever name.
    let own = std::env::current_exe().unwrap_or_default();
    let is_own = |value: &str| {
        let first = value.split(' ').next().unwrap_or_default();
        value.contains("quotient") || Path::new(first).file_name() == own.file_name()
    };
    let given = std::env::var_os(variable).filter(|v| !v.is_empty() && !is_own(&v.to_string_lossy()));
    given.unwrap_or_else(|| name.into())
}

impl Build {
    /// Compiles and links.
    ///
    /// # Errors
    /// If the compiler cannot be started or refuses the program, or files cannot be written.
    pub fn run(&self) -> Result<Binary, BuildError> {
        let runtime = install_runtime()?;
        let scratch = Scratch::new().map_err(|e| BuildError::File(std::env::temp_dir(), e))?;
        let path = scratch.path().join("program");
        let cpp = self.sources.iter().any(|s| is_cpp(s));
        let compiler = self.compiler.clone().unwrap_or_else(|| default_compiler(cpp));
        let mut objects: Vec<PathBuf> = Vec::new();
        let mut uninitialised = Vec::new();
        for (index, source) in self.sources.iter().enumerate() {
            if !is_native_source(source) {
                objects.push(source.clone());
                continue;
            }
            let object = scratch.path().join(format!("{index}.o"));
            let mut command = Command::new(&compiler);
            command
                .args(compile_flags())
                .args(["-O0", "-Wuninitialized", "-Wno-error=uninitialized"])
                .args(&self.flags)
                .arg("-c")
                .arg(source)
                .arg("-o")
                .arg(&object);
            uninitialised.extend(uninitialised_in(&run(command, &compiler)?));
            objects.push(object);
        }
        let mut command = Command::new(&compiler);
        command.args(&objects).args(link_only(&self.flags)).args(link_flags(&runtime)).arg("-o").arg(&path);
        run(command, &compiler)?;
        Ok(Binary {
            path,
            _scratch: Some(scratch),
            uninitialised,
            holes: Default::default(),
            counted: Default::default(),
        })
    }
}

/// The variables that warnings name: `file.c:3:9: warning: 'x' is used uninitialized [-Wuninitialized]`.
fn uninitialised_in(warnings: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in warnings.lines().filter(|line| line.ends_with("uninitialized]")) {
        let mut fields = line.split(':');
        let (Some(file), Some(number)) = (fields.next(), fields.next()) else { continue };
        let file = file.rsplit('/').next().unwrap_or(file);
        // Compilers quote in several ways.
        let quoted = line.split(['\'', '‘', '’']).nth(1).unwrap_or("a variable");
        found.push(format!("{quoted} ({file}:{number})"));
    }
    found.dedup();
    found
}

/// Does this flag bring in another sanitizer's runtime, or take the symbols away, by which functions and variables are found?
pub(crate) fn spoils(flag: &OsString) -> bool {
    flag.to_string_lossy().starts_with("-fsanitize")
        || ["-s", "-Wl,-s", "-Wl,--strip-all"].iter().any(|f| flag == f)
}

/// The user's flags without those.
fn link_only(flags: &[OsString]) -> impl Iterator<Item = &OsString> {
    flags.iter().filter(|flag| !spoils(flag))
}

/// Runs the compiler; gives its warnings.
fn run(mut command: Command, compiler: &OsString) -> Result<String, BuildError> {
    let output = command.output().map_err(|error| BuildError::Compiler(compiler.clone(), error))?;
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(messages) } else { Err(BuildError::Rejected(messages)) }
}

impl Binary {
    /// A program that was built before (with `quotient cc`).
    pub fn existing(path: PathBuf) -> Binary {
        Binary {
            path,
            _scratch: None,
            uninitialised: Vec::new(),
            holes: Default::default(),
            counted: Default::default(),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Variables that are used without a value, as far as the compiler has noticed.
    pub(crate) fn uninitialised(&self) -> &[String] {
        &self.uninitialised
    }

    /// Its accesses to memory that no hook announces.
    pub(crate) fn holes(&self) -> &[crate::protocol::Hole] {
        self.holes.get_or_init(|| crate::holes::instructions(&self.path))
    }

    /// Its loops that only count.
    pub(crate) fn counted(&self) -> &[crate::protocol::Counted] {
        self.counted.get_or_init(|| crate::holes::counted(&self.path))
    }

    /// Is it linked with the runtime?
    pub fn is_checkable(path: &Path) -> bool {
        let name = b"libquotient_runtime.so";
        std::fs::read(path).is_ok_and(|bytes| bytes.windows(name.len()).any(|w| w == name))
    }
}
