//! The C file: the model's C around a structure for the state and one for each proctype.
//!
//! In this order, which is Spin's: `c_decl`, mtype constants, `typedef`s, the structures, hidden variables,
//! functions (`c_code` outside of proctypes), and a function for every piece. What follows copies variables:
//! the program's cells are numbers of 32 bits, one for every scalar, and the copy into the structures and
//! back is written out here, so that nothing depends on how a compiler lays out a structure. Memory of
//! `c_state` and `c_track` is a *region*: one cell where it has one, two or four bytes, else a cell a byte.

use promela::ir::{
    CItem, COwner, CPiece, ProctypeId, ProctypeKind, Program, Scalar, Type, Var, declared_name,
};
use promela::source::{Location, Span};
use std::fmt::Write;

/// Memory of C that belongs to the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// As people call it.
    pub name: String,
    /// The proctype whose processes have it; none for one that there is once.
    pub owner: Option<ProctypeId>,
    /// It does not make states different.
    pub hidden: bool,
    /// Where it is declared.
    pub span: Span,
    /// An expression of C: its address, and its size.
    address: String,
    size: String,
    /// An assignment that gives it its first value.
    start: Option<String>,
}

/// A C file.
#[derive(Clone, Debug)]
pub struct Generated {
    /// Its text.
    pub text: String,
    /// What it keeps in the state, in the order of its cells.
    pub regions: Vec<Region>,
}

/// Words that no field of a structure can have.
const KEYWORDS: &[&str] = &[
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum",
    "extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return",
    "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void",
    "volatile", "while",
];

const HEAD: &str = "\
/* The C of a model, with a structure for its state: written by spinor, which compiles and loads it. */
#include <stddef.h>
#include <stdint.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <limits.h>
#include <ctype.h>
#include <errno.h>
#include <assert.h>
typedef unsigned char uchar;
typedef unsigned long ulong;
#ifdef __TINYC__
#define SPINOR_EXPORT
#else
#define SPINOR_EXPORT __attribute__((visibility(\"default\")))
#endif
static int Printf(const char *format, ...)
{
\tint n;
\tva_list list;
\tva_start(list, format);
\tn = vprintf(format, list);
\tva_end(list);
\treturn n;
}
";

/// Small functions that copy regions.
const COPY: &str = "\
static size_t spinor_cells(size_t size) { return size == 1 || size == 2 || size == 4 ? 1 : size; }
static void spinor_take(void *to, const int *cells, size_t size)
{
\tsize_t i;
\tunsigned char *bytes = to;
\tif (to == NULL) return;
\tif (size == 1) { bytes[0] = (unsigned char)cells[0]; return; }
\tif (size == 2) { short v = (short)cells[0]; memcpy(to, &v, 2); return; }
\tif (size == 4) { memcpy(to, cells, 4); return; }
\tfor (i = 0; i < size; i++) bytes[i] = (unsigned char)cells[i];
}
static void spinor_give(int *cells, const void *from, size_t size)
{
\tsize_t i;
\tconst unsigned char *bytes = from;
\tif (from == NULL) { for (i = 0; i < spinor_cells(size); i++) cells[i] = 0; return; }
\tif (size == 1) { cells[0] = bytes[0]; return; }
\tif (size == 2) { short v; memcpy(&v, from, 2); cells[0] = v; return; }
\tif (size == 4) { memcpy(cells, from, 4); return; }
\tfor (i = 0; i < size; i++) cells[i] = bytes[i];
}
";

/// Writes the C file of a program; `locate` tells where spans are.
pub fn generate(program: &Program, locate: &dyn Fn(Span) -> Location) -> Generated {
    let regions = regions(program);
    let mut writer = Writer { program, locate, regions: &regions, out: String::from(HEAD) };
    writer.declarations();
    writer.structures();
    writer.functions();
    writer.pieces();
    writer.out.push_str(COPY);
    writer.copies(true);
    writer.copies(false);
    writer.interface();
    let text = writer.out;
    Generated { text, regions }
}

/// The macro's name by which C knows a process of this proctype.
pub fn macro_of(name: &str) -> Option<String> {
    let name = name.trim_matches(':');
    is_name(name).then(|| format!("P{name}"))
}

fn is_name(word: &str) -> bool {
    let letters = word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    letters
        && !word.is_empty()
        && !word.starts_with(|c: char| c.is_ascii_digit())
        && !KEYWORDS.contains(&word)
}

/// What C keeps in the state: first what there is once, then what processes have.
fn regions(program: &Program) -> Vec<Region> {
    let mut regions = Vec::new();
    for item in &program.embedded.items {
        match item {
            CItem::Track { address, size, matched, span } => regions.push(Region {
                name: address.trim().trim_start_matches('&').trim().to_string(),
                owner: None,
                hidden: !matched,
                span: *span,
                address: format!("(void *)({address})"),
                size: format!("(size_t)({size})"),
                start: None,
            }),
            CItem::State { declaration, owner, value, span } => {
                let Some(name) = declared_name(declaration) else { continue };
                let (place, owner, hidden) = match owner {
                    COwner::Global => (format!("now.{name}"), None, false),
                    COwner::Hidden => (name.to_string(), None, true),
                    COwner::Local(id) => (format!("spinor_p{}.{name}", id.0), Some(*id), false),
                };
                let line = format!("{place} = {};", value.as_deref().unwrap_or_default());
                regions.push(Region {
                    name: name.to_string(),
                    owner,
                    hidden,
                    span: *span,
                    address: format!("(void *)&{place}"),
                    size: format!("sizeof({place})"),
                    start: value.is_some().then_some(line),
                });
            }
            CItem::Declaration(..) | CItem::Functions(..) => {}
        }
    }
    regions.sort_by_key(|region| region.owner.map_or(0, |id| id.0 + 1));
    regions
}

struct Writer<'a> {
    program: &'a Program,
    locate: &'a dyn Fn(Span) -> Location,
    regions: &'a [Region],
    out: String,
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// Text of the model, whose lines the compiler is to name.
    fn of_model(&mut self, text: &str, span: Span) {
        let place = (self.locate)(span);
        let file = place.file.replace('\\', "\\\\").replace('"', "\\\"");
        let _ = writeln!(self.out, "#line {} \"{file}\"", place.line);
        self.line(text);
    }

    /// From here on lines are those of the generated file.
    fn own_again(&mut self) {
        let next = self.out.matches('\n').count() + 2;
        let _ = writeln!(self.out, "#line {next} \"generated.c\"");
    }

    fn declarations(&mut self) {
        for item in &self.program.embedded.items {
            if let CItem::Declaration(text, span) = item {
                self.of_model(text, *span);
            }
        }
        self.own_again();
        for set in &self.program.mtypes {
            for (name, value) in set.values.iter().filter(|(name, _)| is_name(name)) {
                let _ = writeln!(self.out, "#define {name} {value}");
            }
        }
    }

    fn structures(&mut self) {
        let program = self.program;
        for structure in &program.structs {
            if !is_name(&structure.name) {
                continue;
            }
            let _ = writeln!(self.out, "struct {} {{", structure.name);
            for field in &structure.fields {
                self.field(&field.name, &field.ty);
            }
            self.line("};");
        }
        self.line("typedef struct spinor_State {\n\tuchar _nr_pr;\n\tuchar _nr_qs;\n\tuchar _last;");
        for var in program.globals.iter().filter(|var| !var.hidden) {
            self.field(&var.name, &var.ty);
        }
        self.state_fields(COwner::Global);
        self.line("} State;\nState now;\nstatic uchar *_this;\nstatic int spinor_false;");
        for var in program.globals.iter().filter(|var| var.hidden && is_name(&var.name)) {
            let text = declaration(program, &var.name, &var.ty, false);
            self.line(&format!("{text};"));
        }
        self.state_fields(COwner::Hidden);
        for (id, proctype) in processes(program) {
            self.line("typedef struct {\n\tuchar _pid;");
            for var in once(&proctype.locals) {
                self.field(&var.name, &var.ty);
            }
            self.state_fields(COwner::Local(id));
            let _ = writeln!(self.out, "}} spinor_P{0};\nstatic spinor_P{0} spinor_p{0};", id.0);
            if let Some(name) = macro_of(&proctype.name) {
                let _ = writeln!(self.out, "#define {name} ((spinor_P{} *)_this)", id.0);
            }
        }
    }

    fn field(&mut self, name: &str, ty: &Type) {
        if is_name(name) {
            let text = declaration(self.program, name, ty, true);
            self.line(&format!("\t{text};"));
        }
    }

    fn state_fields(&mut self, wanted: COwner) {
        for item in &self.program.embedded.items {
            if let CItem::State { declaration, owner, span, .. } = item
                && *owner == wanted
            {
                self.of_model(&format!("{declaration};"), *span);
            }
        }
        self.own_again();
    }

    fn functions(&mut self) {
        for item in &self.program.embedded.items {
            if let CItem::Functions(text, span) = item {
                self.of_model(text, *span);
            }
        }
        self.own_again();
    }

    fn pieces(&mut self) {
        for (number, piece) in self.program.embedded.pieces.iter().enumerate() {
            // `P->x` is the process itself, whatever its proctype.
            let own = piece.proctype.filter(|_| mentions_own(piece));
            if let Some(id) = own {
                let _ = writeln!(self.out, "#define P ((spinor_P{} *)_this)", id.0);
            }
            let _ = writeln!(self.out, "static int spinor_piece{number}(void)\n{{");
            if let Some(condition) = &piece.precondition {
                self.line("if (!(");
                self.of_model(condition, piece.span);
                self.line(")) { spinor_false = 1; return 0; }");
            }
            match piece.statement {
                true => {
                    self.line("{");
                    self.of_model(&piece.text, piece.span);
                    self.own_again();
                    self.line("}\nreturn 0;\n}");
                }
                false => {
                    self.line("__typeof__((");
                    self.of_model(&piece.text, piece.span);
                    self.line(") + 0) spinor_value = (");
                    self.of_model(&piece.text, piece.span);
                    self.own_again();
                    self.line(");\nint spinor_number;\nif (!spinor_value) return 0;");
                    self.line("spinor_number = (int)(long)spinor_value;");
                    self.line("return spinor_number ? spinor_number : 1;\n}");
                }
            }
            if own.is_some() {
                self.line("#undef P");
            }
        }
        self.own_again();
    }

    /// Functions that copy everything into the structures, or out of them.
    fn copies(&mut self, into: bool) {
        let program = self.program;
        let (way, cells) = if into { ("in", "const int *c") } else { ("out", "int *c") };
        let _ = writeln!(self.out, "static void spinor_globals_{way}({cells})\n{{");
        for var in &program.globals {
            if is_name(&var.name) {
                let place = if var.hidden { var.name.clone() } else { format!("now.{}", var.name) };
                self.copy(&var.ty, &place, &var.cell.to_string(), 0, into);
            }
        }
        self.copy_regions(None, program.n_global_cells, into);
        self.line("}");
        for (id, proctype) in processes(program) {
            let _ = writeln!(self.out, "static void spinor_process_{way}{}({cells})\n{{", id.0);
            for var in once(&proctype.locals) {
                if is_name(&var.name) {
                    let place = format!("spinor_p{}.{}", id.0, var.name);
                    self.copy(&var.ty, &place, &var.cell.to_string(), 0, into);
                }
            }
            self.copy_regions(Some(id), proctype.n_cells, into);
            self.line("}");
        }
    }

    fn copy(&mut self, ty: &Type, place: &str, cell: &str, depth: usize, into: bool) {
        let tabs = "\t".repeat(depth + 1);
        match ty {
            Type::Scalar(_) if into => self.line(&format!("{tabs}{place} = c[{cell}];")),
            Type::Scalar(_) => self.line(&format!("{tabs}c[{cell}] = {place};")),
            Type::Array(element, len) => {
                let stride = self.program.cells_of(element);
                let i = format!("i{depth}");
                self.line(&format!("{tabs}for (int {i} = 0; {i} < {len}; {i}++) {{"));
                let (place, cell) = (format!("{place}[{i}]"), format!("{cell} + {i} * {stride}"));
                self.copy(element, &place, &cell, depth + 1, into);
                self.line(&format!("{tabs}}}"));
            }
            Type::Struct(id) => {
                for field in &self.program.structs[id.index()].fields {
                    if is_name(&field.name) {
                        let place = format!("{place}.{}", field.name);
                        self.copy(&field.ty, &place, &format!("{cell} + {}", field.offset), depth, into);
                    }
                }
            }
        }
    }

    fn copy_regions(&mut self, owner: Option<ProctypeId>, first_cell: u32, into: bool) {
        let _ = writeln!(self.out, "\tc += {first_cell};");
        for region in self.regions.iter().filter(|region| region.owner == owner) {
            let Region { address, size, .. } = region;
            match into {
                true => self.line(&format!("\tspinor_take({address}, c, {size});")),
                false => self.line(&format!("\tspinor_give(c, {address}, {size});")),
            }
            self.line(&format!("\tc += spinor_cells({size});"));
        }
    }

    /// What the checker calls.
    fn interface(&mut self) {
        self.line("SPINOR_EXPORT uint64_t spinor_size(int region)\n{\n\tswitch (region) {");
        for (number, region) in self.regions.iter().enumerate() {
            let _ = writeln!(self.out, "\tcase {number}: return (uint64_t){};", region.size);
        }
        self.line("\t}\n\treturn 0;\n}\nSPINOR_EXPORT void spinor_first(int region, int *cells)\n{\n\tswitch (region) {");
        for (number, region) in self.regions.iter().enumerate() {
            let Region { address, size, .. } = region;
            let _ = writeln!(self.out, "\tcase {number}: spinor_give(cells, {address}, {size}); break;");
        }
        self.line("\t}\n}\nSPINOR_EXPORT void spinor_start(void)\n{");
        // What C prints stands beside notices: standard output is for results.
        self.line("#if defined(__GLIBC__) || defined(__APPLE__)\n\tstdout = stderr;\n#endif");
        for region in self.regions {
            if let Some(start) = &region.start {
                if let Some(id) = region.owner {
                    self.line(&format!("\t_this = (uchar *)&spinor_p{};", id.0));
                }
                self.of_model(start, region.span);
            }
        }
        self.own_again();
        self.line("\t_this = NULL;\n}");
        self.line("SPINOR_EXPORT int spinor_call(int piece, const int *about, int *globals, int *locals, int *failed)\n{");
        self.line("\tint value = 0;\n\tspinor_false = 0;");
        self.line("\tnow._nr_pr = about[2];\n\tnow._nr_qs = about[3];\n\tnow._last = about[4];");
        self.line("\tspinor_globals_in(globals);\n\t_this = NULL;\n\tswitch (about[0]) {");
        for (id, _) in processes(self.program) {
            let _ = writeln!(
                self.out,
                "\tcase {0}: spinor_p{0}._pid = about[1]; spinor_process_in{0}(locals); \
                 _this = (uchar *)&spinor_p{0}; break;",
                id.0
            );
        }
        self.line("\t}\n\tswitch (piece) {");
        for number in 0..self.program.embedded.pieces.len() {
            let _ = writeln!(self.out, "\tcase {number}: value = spinor_piece{number}(); break;");
        }
        self.line("\t}\n\t*failed = spinor_false;\n\treturn value;\n}");
        self.line("SPINOR_EXPORT void spinor_result(const int *about, int *globals, int *locals)\n{");
        self.line("\tspinor_globals_out(globals);\n\tswitch (about[0]) {");
        for (id, _) in processes(self.program) {
            let _ = writeln!(self.out, "\tcase {0}: spinor_process_out{0}(locals); break;", id.0);
        }
        self.line("\t}\n}");
    }
}

/// The proctypes that C may know a process of.
fn processes(program: &Program) -> impl Iterator<Item = (ProctypeId, &promela::ir::Proctype)> {
    let all = program.proctypes.iter().enumerate().map(|(i, proctype)| (ProctypeId(i as u32), proctype));
    all.filter(|(_, proctype)| matches!(proctype.kind, ProctypeKind::Proctype | ProctypeKind::Init))
}

/// Where blocks declare variables of one name, the first one has it.
fn once(vars: &[Var]) -> impl Iterator<Item = &Var> {
    vars.iter().enumerate().filter(|(i, var)| vars[..*i].iter().all(|v| v.name != var.name)).map(|(_, v)| v)
}

fn mentions_own(piece: &CPiece) -> bool {
    let inside = |text: &str| {
        text.match_indices("P->")
            .any(|(at, _)| !text[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
    };
    inside(&piece.text) || piece.precondition.as_deref().is_some_and(inside)
}

/// A declaration of C, with the types that Spin gives variables.
fn declaration(program: &Program, name: &str, ty: &Type, in_structure: bool) -> String {
    let mut dimensions = String::new();
    let mut element = ty;
    while let Type::Array(inner, len) = element {
        let _ = write!(dimensions, "[{len}]");
        element = inner;
    }
    let is_field = in_structure && dimensions.is_empty();
    let word = match element {
        Type::Struct(id) => format!("struct {}", program.structs[id.index()].name),
        Type::Scalar(Scalar::Bit | Scalar::Bool) if is_field => return format!("unsigned {name} : 1"),
        Type::Scalar(Scalar::Unsigned(bits)) if is_field => return format!("unsigned {name} : {bits}"),
        Type::Scalar(Scalar::Unsigned(_)) => "unsigned".to_string(),
        Type::Scalar(Scalar::Int) => "int".to_string(),
        Type::Scalar(Scalar::Short | Scalar::Lock) => "short".to_string(),
        _ => "uchar".to_string(),
    };
    format!("{word} {name}{dimensions}")
}
