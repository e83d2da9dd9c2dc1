//! The colours and fonts of all pictures, as one style sheet.
//!
//! A picture in a file of its own carries the sheet; in a page it stands once, and a page may set the
//! variables anew. Light or dark is as the viewer is. Colours of text have a contrast of at least 4.5 with
//! what they stand on, those of lines and areas of 3 (WCAG AA). The first eight processes have colours of
//! their own, which come again after that; their names are always there as well.

use crate::text::escape;

/// Where a picture is going to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// In a file of its own, with the style sheet.
    File,
    /// In a page that has the style sheet; identifiers begin with this word, which no other picture has.
    Page(&'a str),
}

/// Colours of processes.
pub const COLOURS: usize = 8;

/// The class of the colour of a process or proctype.
pub fn colour(number: usize) -> usize {
    number % COLOURS
}

/// The style sheet.
pub const SHEET: &str = "\
.drawing{--paper:#fff;--ink:#1f2933;--faint:#5f6b78;--line:#7b8794;--rule:#d5dbe1;--head:#e4ecf7;--edge:#3f6499;\
--box:#f7f7f2;--frame:#7d828b;--message:#1b66c4;--meet:#0b7d57;--bad:#b71c1c;--badfill:#fdeaea;--badline:#c62828;\
--now:#ffefbf;--c0:#0b57b0;--c1:#8a2f8f;--c2:#a84300;--c3:#0b6e4f;--c4:#b0135f;--c5:#5f5a00;--c6:#00696b;--c7:#5b45b0;\
color-scheme:light dark;background:var(--paper)}\
@media (prefers-color-scheme:dark){.drawing{--paper:#14181d;--ink:#e4e7eb;--faint:#9aa5b1;--line:#7b8794;\
--rule:#39434d;--head:#22334a;--edge:#7ea6dd;--box:#232a31;--frame:#7b8794;--message:#6cb2ff;--meet:#3ecf9b;\
--bad:#ff8a8a;--badfill:#42191c;--badline:#ff6b6b;--now:#3d3008;--c0:#7db8ff;--c1:#e29be6;--c2:#ffb074;--c3:#5fd3a6;\
--c4:#ff8fc0;--c5:#d6d35a;--c6:#5fd0d3;--c7:#b9a3ff}}\
.drawing text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:var(--ink)}\
.drawing .page{fill:var(--paper)}.drawing .title{font-weight:bold;font-size:14px}\
.msc .number{fill:var(--faint);text-anchor:end;font-size:11px}\
.msc .life{stroke:var(--line);stroke-width:1;stroke-dasharray:5 4}.msc .head{fill:var(--head);stroke:var(--edge)}\
.msc .name{text-anchor:middle;font-weight:bold}.msc .box{fill:var(--box);stroke:var(--frame)}\
.msc .in{text-anchor:middle}.msc .message{stroke:var(--message);stroke-width:1.4;fill:none}\
.msc .far{stroke-width:1;stroke-dasharray:7 4}.msc .tip{fill:var(--message)}\
.msc .meet{stroke:var(--meet);stroke-width:2;fill:none}.msc .meettip{fill:var(--meet)}\
.msc .start{stroke:var(--edge);stroke-dasharray:3 3;fill:none}.msc .starttip{fill:var(--edge)}\
.msc .dot{fill:var(--paper);stroke:var(--message);stroke-width:1.4}\
.drawing .label{paint-order:stroke;stroke:var(--paper);stroke-width:4px;stroke-linejoin:round}\
.msc .end{stroke:var(--edge);stroke-width:3}.drawing .wrong{fill:var(--badfill);stroke:var(--badline);stroke-width:1.6}\
.msc .waits{stroke-dasharray:5 3}.drawing .bad{fill:var(--bad);font-weight:bold}\
.msc .band{fill:transparent}.msc .now .band{fill:var(--now)}\
.graph .node{fill:var(--paper);stroke:var(--line);stroke-width:1.5}.graph .ring{fill:none;stroke:var(--line)}\
.graph .number{text-anchor:middle;font-size:11px}.graph .edge{fill:none;stroke:var(--line);stroke-width:1.2}\
.graph .arrow{fill:var(--line);stroke:none}.graph .cover{fill:var(--paper)}.graph .what{text-anchor:middle;font-size:11px}\
.graph .atomic .edge{stroke-dasharray:6 3}.graph .accept .node{fill:var(--head)}.graph .progress .node{stroke:var(--meet)}\
.graph .taken .edge{stroke:var(--message);stroke-width:2.6}.graph .taken .arrow{fill:var(--message)}\
.graph .taken .what{font-weight:bold}.graph .here .node{fill:var(--now);stroke:var(--ink);stroke-width:2.5}\
.graph .who{font-size:10px;font-weight:bold;text-anchor:middle}\
.lanes .who{font-weight:bold}.lanes .tick{fill:var(--faint);font-size:10px;text-anchor:middle}\
.lanes .grid{stroke:var(--rule);stroke-width:1}.lanes .cell{stroke:none}.lanes .hollow{fill:var(--paper);stroke-width:2}\
.lanes .cycle{fill:none;stroke:var(--faint);stroke-width:1.5}.lanes .band{fill:transparent}.lanes .now .band{fill:var(--now)}\
.drawing .c0{--own:var(--c0)}.drawing .c1{--own:var(--c1)}.drawing .c2{--own:var(--c2)}.drawing .c3{--own:var(--c3)}\
.drawing .c4{--own:var(--c4)}.drawing .c5{--own:var(--c5)}.drawing .c6{--own:var(--c6)}.drawing .c7{--own:var(--c7)}\
.lanes .who,.graph .who{fill:var(--own)}.lanes .full{fill:var(--own)}.lanes .hollow{stroke:var(--own)}\
.lanes .fault{--own:var(--badline)}";

/// The beginning of a picture: root element, title, and the sheet where the picture needs it. `label` is what
/// the picture shows, for those who cannot see it.
pub(crate) fn open(class: &str, size: (f64, f64), label: &str, frame: Frame<'_>) -> String {
    let (width, height) = (size.0.ceil(), size.1.ceil());
    let sheet = match frame {
        Frame::File => format!("<style>{SHEET}</style>\n"),
        Frame::Page(_) => String::new(),
    };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"drawing {class}\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">\n{sheet}\
         <rect class=\"page\" width=\"{width}\" height=\"{height}\"/>\n",
        escape(label)
    )
}

impl Frame<'_> {
    /// An identifier that no other picture of the page has.
    pub(crate) fn id(&self, name: &str) -> String {
        match self {
            Frame::File => name.to_string(),
            Frame::Page(word) => format!("{}-{name}", escape(word)),
        }
    }
}
