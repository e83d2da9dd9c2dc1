//! Embedded C in the text form.

use super::*;

impl Printer {
    pub(super) fn embedded(&mut self, embedded: &Embedded) {
        for (number, piece) in embedded.pieces.iter().enumerate() {
            self.word(&format!("c{number} = {}", if piece.statement { "code" } else { "expr" }));
            if let Some(proctype) = piece.proctype {
                self.word(&format!(" proctype{}", proctype.0));
            }
            self.spaced_span(piece.span);
            if let Some(precondition) = &piece.precondition {
                self.word(" requires ");
                quote(&mut self.out, precondition);
            }
            self.word(" ");
            quote(&mut self.out, &piece.text);
            self.word("\n");
        }
        for item in &embedded.items {
            self.item_of_c(item);
            self.word("\n");
        }
    }

    fn item_of_c(&mut self, item: &CItem) {
        let (word, texts) = match item {
            CItem::Declaration(text, _) => ("c_decl".to_string(), vec![text]),
            CItem::Functions(text, _) => ("c_code".to_string(), vec![text]),
            CItem::State { declaration, owner, .. } => {
                let owner = match owner {
                    COwner::Global => "global".to_string(),
                    COwner::Hidden => "hidden".to_string(),
                    COwner::Local(proctype) => format!("local proctype{}", proctype.0),
                };
                (format!("c_state {owner}"), vec![declaration])
            }
            CItem::Track { address, size, matched, .. } => {
                let word = if *matched { "c_track matched" } else { "c_track unmatched" };
                (word.to_string(), vec![address, size])
            }
        };
        self.word(&word);
        self.spaced_span(item.span());
        for text in texts {
            self.word(" ");
            quote(&mut self.out, text);
        }
        if let CItem::State { value: Some(value), .. } = item {
            self.word(" = ");
            quote(&mut self.out, value);
        }
    }
}
