//! Embedded C in the text form.

use super::*;

impl Reader<'_> {
    /// A piece, after its number.
    pub(super) fn piece(&mut self) -> Read<CPiece> {
        let statement = self.flag("code")?;
        if !statement {
            self.keyword("expr")?;
        }
        let owned = self.peek_word().is_some_and(|word| numbered(word, "proctype").is_some());
        let proctype = if owned { Some(self.proctype_id()?) } else { None };
        let span = self.span()?;
        let precondition = if self.flag("requires")? { Some(self.string()?) } else { None };
        Ok(CPiece { statement, proctype, precondition, text: self.string()?, span })
    }

    /// C outside of statements, from its word.
    pub(super) fn item_of_c(&mut self) -> Read<CItem> {
        if self.flag("c_decl")? {
            let span = self.span()?;
            return Ok(CItem::Declaration(self.string()?, span));
        }
        if self.flag("c_code")? {
            let span = self.span()?;
            return Ok(CItem::Functions(self.string()?, span));
        }
        if self.flag("c_track")? {
            let matched = self.flag("matched")?;
            if !matched {
                self.keyword("unmatched")?;
            }
            let span = self.span()?;
            return Ok(CItem::Track { address: self.string()?, size: self.string()?, matched, span });
        }
        self.keyword("c_state")?;
        let owner = if self.flag("global")? {
            COwner::Global
        } else if self.flag("hidden")? {
            COwner::Hidden
        } else {
            self.keyword("local")?;
            COwner::Local(self.proctype_id()?)
        };
        let span = self.span()?;
        let declaration = self.string()?;
        let mut value = None;
        if self.is("=") {
            self.advance()?;
            value = Some(self.string()?);
        }
        Ok(CItem::State { declaration, owner, value, span })
    }
}
