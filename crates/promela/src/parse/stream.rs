//! Where the next token comes from: the model's text, the body of an inline being expanded, or an argument
//! that replaces a formal parameter.
//!
//! The model's tokens are never copied: an inline's body is a range of them, read again at every use. A token
//! of a body is placed in the expansion of that use, so that two uses of one inline stay apart. Whether a
//! line ends before a token is found out once, from the source text, because a line end may stand for a
//! semicolon.

use super::lexis::Tok;
use crate::source::{Expansion, ExpansionId, ExpansionKind, SourceMap, Span};
use crate::token::{Punct, Token, TokenKind};
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use stop::Ticks;

/// The most tokens that inline expansion may add to a model.
pub(super) const MAX_EXPANDED: usize = 2_000_000;

/// A token as it stands in the text.
#[derive(Clone, Debug)]
pub(super) struct Raw {
    pub(super) kind: TokenKind,
    pub(super) span: Span,
    /// A line ends between the token before and this one.
    pub(super) newline: bool,
    /// It stands in the body of an inline, where formal parameters are to be replaced.
    pub(super) in_body: bool,
}

/// What [`Stream::next`] gives.
pub(super) enum Fetched {
    /// A token that has yet to be classified.
    Raw(Raw),
    /// A token of an argument, classified when the argument was read.
    Ready(Tok),
}

enum Frame {
    /// The body of an inline.
    Body {
        inline: usize,
        at: usize,
        end: usize,
        args: Vec<Rc<[Tok]>>,
        expansion: ExpansionId,
        /// Macro expansions of the body, each moved into this use.
        moved: HashMap<ExpansionId, ExpansionId>,
    },
    /// Tokens made elsewhere, shown at `place` if there is one.
    Text { tokens: Rc<[Tok]>, at: usize, place: Option<Span> },
}

/// The source of tokens: a stack of texts above the model itself.
pub(super) struct Stream<'s> {
    pub(super) sources: &'s mut SourceMap,
    tokens: Vec<Token>,
    newline: Vec<bool>,
    at: usize,
    end: usize,
    frames: Vec<Frame>,
    bodies: usize,
    expanded: usize,
    ticks: Ticks,
    /// Places of `*/` outside any comment; they were dropped.
    pub(super) strays: Vec<Span>,
}

impl<'s> Stream<'s> {
    /// `line_starts` says for each token whether a line ends before it; without, the source text does.
    pub(super) fn new(
        mut tokens: Vec<Token>,
        line_starts: Option<Vec<bool>>,
        sources: &'s mut SourceMap,
    ) -> Self {
        if !matches!(tokens.last(), Some(Token { kind: TokenKind::End, .. })) {
            let span = tokens.last().map_or(Span::NONE, |t| Span { start: t.span.end, ..t.span });
            tokens.push(Token { kind: TokenKind::End, span });
        }
        let mut newline = line_starts.unwrap_or_else(|| line_ends(&tokens, sources));
        newline.resize(tokens.len(), false);
        let strays = repair_signs(&mut tokens, &mut newline);
        let end = tokens.len() - 1;
        Stream {
            sources,
            tokens,
            newline,
            at: 0,
            end,
            frames: Vec::new(),
            bodies: 0,
            expanded: 0,
            ticks: Ticks::default(),
            strays,
        }
    }

    /// Whether tokens come from an inline's body or from an argument in it.
    pub(super) fn inlining(&self) -> bool {
        self.bodies > 0
    }

    /// Whether inline expansion has exceeded its limit; the stream has ended then.
    pub(super) fn overrun(&self) -> bool {
        self.expanded > MAX_EXPANDED
    }

    /// The next token, out of whatever is being read.
    pub(super) fn next(&mut self) -> Fetched {
        self.ticks.tick(self.sources.stop());
        loop {
            if self.overrun() {
                self.drop_frames();
                self.at = self.end;
            }
            let Some(frame) = self.frames.last_mut() else { return Fetched::Raw(self.next_of_model()) };
            match frame {
                Frame::Text { tokens, at, place } => {
                    if let Some(tok) = tokens.get(*at) {
                        let mut tok = tok.clone();
                        tok.place = place.unwrap_or(tok.place);
                        *at += 1;
                        self.expanded += 1;
                        return Fetched::Ready(tok);
                    }
                }
                Frame::Body { at, end, expansion, moved, .. } => {
                    if *at < *end {
                        let token = &self.tokens[*at];
                        let raw = Raw {
                            kind: token.kind.clone(),
                            span: moved_span(token.span, *expansion, moved, self.sources),
                            newline: self.newline[*at],
                            in_body: true,
                        };
                        *at += 1;
                        self.expanded += 1;
                        return Fetched::Raw(raw);
                    }
                    self.bodies -= 1;
                }
            }
            self.frames.pop();
        }
    }

    fn next_of_model(&mut self) -> Raw {
        let at = self.at.min(self.end);
        let token = &self.tokens[at];
        let kind = if at == self.end { TokenKind::End } else { token.kind.clone() };
        self.at = (at + 1).min(self.end);
        Raw { kind, span: token.span, newline: self.newline[at], in_body: false }
    }

    /// The tokens of the model that come next, if the model itself is being read; for looking ahead.
    pub(super) fn ahead(&self) -> &[Token] {
        if self.frames.is_empty() { &self.tokens[self.at..self.end] } else { &[] }
    }

    /// Whether a line ends before the `n`th of [`Stream::ahead`].
    pub(super) fn newline_ahead(&self, n: usize) -> bool {
        self.newline.get(self.at + n).copied().unwrap_or(false)
    }

    /// Skips `n` tokens of the model and returns where they stand.
    pub(super) fn skip(&mut self, n: usize) -> Range<usize> {
        let start = self.at;
        self.at = (start + n).min(self.end);
        start..self.at
    }

    /// From here on the model consists of these tokens alone.
    pub(super) fn restrict(&mut self, range: Range<usize>) {
        self.drop_frames();
        self.at = range.start.min(self.tokens.len() - 1);
        self.end = range.end.min(self.tokens.len() - 1);
    }

    /// Nothing more is read.
    pub(super) fn finish(&mut self) {
        self.drop_frames();
        self.at = self.end;
    }

    /// Leaves all inlines that are being expanded.
    pub(super) fn drop_frames(&mut self) {
        self.frames.clear();
        self.bodies = 0;
    }

    /// Reads `tokens` next; they are shown at `place`.
    pub(super) fn push_text(&mut self, tokens: Rc<[Tok]>, place: Option<Span>) {
        self.frames.push(Frame::Text { tokens, at: 0, place });
    }

    /// Reads the body of `inline` next, `args` for its parameters; `call` is the use.
    pub(super) fn push_body(
        &mut self,
        inline: usize,
        name: Arc<str>,
        body: Range<usize>,
        args: Vec<Rc<[Tok]>>,
        call: Span,
    ) {
        let expansion = self.sources.add_expansion(Expansion { kind: ExpansionKind::Inline, name, call });
        let (at, end) = (body.start, body.end);
        self.frames.push(Frame::Body { inline, at, end, args, expansion, moved: HashMap::new() });
        self.bodies += 1;
    }

    /// The inlines being expanded, outermost first.
    pub(super) fn active(&self) -> impl Iterator<Item = usize> + '_ {
        self.frames.iter().filter_map(|f| match f {
            Frame::Body { inline, .. } => Some(*inline),
            Frame::Text { .. } => None,
        })
    }

    /// The inline whose body was read last, with the arguments of this use.
    pub(super) fn current_body(&self) -> Option<(usize, &[Rc<[Tok]>])> {
        match self.frames.last() {
            Some(Frame::Body { inline, args, .. }) => Some((*inline, args)),
            _ => None,
        }
    }
}

/// The place of a body's token in one use of the inline: macro expansions inside the body are copied, so that
/// following them leads to that use.
fn moved_span(
    span: Span,
    into: ExpansionId,
    moved: &mut HashMap<ExpansionId, ExpansionId>,
    sources: &mut SourceMap,
) -> Span {
    let mut chain = Vec::new();
    let mut id = span.expansion;
    let mut base = into;
    while id != ExpansionId::ROOT {
        if let Some(&known) = moved.get(&id) {
            base = known;
            break;
        }
        let Some(e) = sources.expansion(id) else { break };
        chain.push((id, e.clone()));
        id = e.call.expansion;
    }
    for (old, mut expansion) in chain.into_iter().rev() {
        expansion.call.expansion = base;
        base = sources.add_expansion(expansion);
        moved.insert(old, base);
    }
    Span { expansion: base, ..span }
}

/// Two habits of Spin's lexer: `-->` is an arrow, and a `*/` that closes no comment is nothing. Returns the
/// places of the latter.
fn repair_signs(tokens: &mut Vec<Token>, newline: &mut Vec<bool>) -> Vec<Span> {
    let mut strays = Vec::new();
    let mut kept = 0;
    let mut at = 0;
    let mut line_ended = false;
    while at < tokens.len() {
        let pair = match (&tokens[at].kind, tokens.get(at + 1)) {
            (TokenKind::Punct(first), Some(Token { kind: TokenKind::Punct(second), span })) => {
                let touching = Span { start: span.start, end: span.start, ..*span };
                let end = Span { start: tokens[at].span.end, ..tokens[at].span };
                (touching == end).then_some((*first, *second))
            }
            _ => None,
        };
        match pair {
            Some((Punct::Star, Punct::Slash)) => {
                strays.push(tokens[at].span);
                line_ended |= newline[at];
                at += 2;
                continue;
            }
            Some((Punct::MinusMinus, Punct::Gt)) => {
                let span = tokens[at].span.to(tokens[at + 1].span);
                tokens[at + 1] = Token { kind: TokenKind::Punct(Punct::Arrow), span };
                line_ended |= newline[at];
                at += 1;
            }
            _ => {}
        }
        tokens.swap(kept, at);
        newline[kept] = newline[at] | std::mem::take(&mut line_ended);
        kept += 1;
        at += 1;
    }
    tokens.truncate(kept);
    newline.truncate(kept);
    strays
}

/// For each token, whether a line ends between it and the token before, as in preprocessed text: macro uses
/// count as one place.
fn line_ends(tokens: &[Token], sources: &SourceMap) -> Vec<bool> {
    let mut ends = Vec::with_capacity(tokens.len());
    let mut before: Option<(Token, Span)> = None;
    for token in tokens {
        let same = before.as_ref().filter(|(t, _)| {
            t.span.expansion == token.span.expansion && token.span.expansion != ExpansionId::ROOT
        });
        let site = same.map_or_else(|| sources.site(token.span), |(_, site)| *site);
        ends.push(match &before {
            Some(_) if same.is_some() => false,
            Some((t, from)) => line_ends_between(*from, t.span.expansion != ExpansionId::ROOT, site, sources),
            None => false,
        });
        let kind = TokenKind::End;
        before = Some((Token { kind, span: token.span }, site));
    }
    ends
}

fn line_ends_between(from: Span, from_macro: bool, to: Span, sources: &SourceMap) -> bool {
    if from.file != to.file {
        return true;
    }
    // The arguments of a macro use may span lines: then its place is where the use begins.
    let start = if from_macro { from.start } else { from.end };
    let Some(file) = sources.files().get(to.file.0 as usize) else { return false };
    let Some(gap) = file.text.as_bytes().get(start as usize..to.start as usize) else {
        return to.start < start;
    };
    // The preprocessor starts a new line after such a use only where there was white space or a comment.
    let apart = !from_macro || gap.last().is_none_or(|b| b.is_ascii_whitespace() || *b == b'/');
    apart && gap.contains(&b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    fn place(text: &str, word: &str, nth: usize, expansion: ExpansionId) -> Span {
        let start = text.match_indices(word).nth(nth).map_or(0, |(i, _)| i) as u32;
        Span { file: FileId(0), start, end: start + word.len() as u32, expansion }
    }

    fn name(text: &str, word: &str, nth: usize, expansion: ExpansionId) -> Token {
        Token { kind: TokenKind::Name(word.into()), span: place(text, word, nth, expansion) }
    }

    fn macro_at(call: Span, sources: &mut SourceMap) -> ExpansionId {
        sources.add_expansion(Expansion { kind: ExpansionKind::Macro, name: "M".into(), call })
    }

    #[test]
    fn a_macro_is_on_the_line_of_its_use() {
        let text = "#define M(x) aa bb \\\n cc x\none M(\n two)three M(\n two) four\nfive";
        let mut sources = SourceMap::new();
        sources.add_file("m.pml", text);
        let first = macro_at(place(text, "M(", 1, ExpansionId::ROOT), &mut sources);
        let second = macro_at(place(text, "M(", 2, ExpansionId::ROOT), &mut sources);
        let root = ExpansionId::ROOT;
        let tokens = [
            (name(text, "one", 0, root), false),
            (name(text, "aa", 0, first), false),
            (name(text, "bb", 0, first), false),
            (name(text, "cc", 0, first), false),
            (name(text, "two", 0, first), false),
            // No white space, so the preprocessor starts no line here.
            (name(text, "three", 0, root), false),
            (name(text, "aa", 0, second), false),
            (name(text, "four", 0, root), true),
            (name(text, "five", 0, root), true),
        ];
        let (tokens, expected): (Vec<_>, Vec<_>) = tokens.into_iter().unzip();
        assert_eq!(line_ends(&tokens, &sources), expected);
    }

    #[test]
    fn macros_in_a_body_lead_to_the_use_of_the_inline() {
        let text = "body N inner M use";
        let mut sources = SourceMap::new();
        sources.add_file("m.pml", text);
        let outer = macro_at(place(text, "N", 0, ExpansionId::ROOT), &mut sources);
        let inner = macro_at(place(text, "M", 0, outer), &mut sources);
        let call = place(text, "use", 0, ExpansionId::ROOT);
        let tokens = vec![
            name(text, "body", 0, ExpansionId::ROOT),
            name(text, "inner", 0, inner),
            name(text, "inner", 0, inner),
        ];
        let mut stream = Stream::new(tokens, None, &mut sources);
        stream.push_body(0, "f".into(), 0..3, Vec::new(), call);
        let spans: Vec<Span> = (0..3)
            .map(|_| match stream.next() {
                Fetched::Raw(raw) => raw.span,
                Fetched::Ready(tok) => tok.span,
            })
            .collect();
        assert_eq!(spans[1], spans[2]);
        let site = sources.site(spans[1]);
        assert_eq!(sources.text(site), "N");
        assert_eq!(site.expansion, spans[0].expansion);
        let inline = sources.expansion(site.expansion).map(|e| (e.kind, e.call));
        assert_eq!(inline, Some((ExpansionKind::Inline, call)));
    }

    #[test]
    fn given_line_starts_follow_their_tokens() {
        let text = "a */ b --> c";
        let mut sources = SourceMap::new();
        sources.add_file("m.pml", text);
        let sign = |p: Punct, at: u32| Token {
            kind: TokenKind::Punct(p),
            span: Span {
                file: FileId(0),
                start: at,
                end: at + p.text().len() as u32,
                expansion: ExpansionId::ROOT,
            },
        };
        let tokens = vec![
            name(text, "a", 0, ExpansionId::ROOT),
            sign(Punct::Star, 2),
            sign(Punct::Slash, 3),
            name(text, "b", 0, ExpansionId::ROOT),
            sign(Punct::MinusMinus, 7),
            sign(Punct::Gt, 9),
            name(text, "c", 0, ExpansionId::ROOT),
        ];
        let starts = vec![false, true, false, false, true, false, false];
        let stream = Stream::new(tokens, Some(starts), &mut sources);
        assert_eq!(stream.strays.len(), 1);
        assert_eq!(stream.newline, [false, true, true, false, false]);
        assert_eq!(stream.tokens[2].kind, TokenKind::Punct(Punct::Arrow));
        assert_eq!(stream.tokens[4].kind, TokenKind::End);
    }
}
