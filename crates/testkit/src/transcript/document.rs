//! A Markdown document taken apart: the commands in it, the files it writes and quotes, and what must not be
//! there.

use std::ops::Range;

/// A document with everything in it that a test can execute or verify.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document {
    /// Its lines.
    pub lines: Vec<String>,
    /// In the order of the text.
    pub items: Vec<Item>,
    /// Commands that would not be executed, and blocks that cannot be read: 1-based line and message.
    pub mistakes: Vec<(usize, String)>,
}

/// Something to do or to verify.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A command with its output.
    Command(Command),
    /// A file to write.
    File(Excerpt),
    /// Lines that a file must hold.
    Quote(Excerpt),
}

/// A command of a `console` block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The 1-based line of its `$`.
    pub line: usize,
    /// What the shell gets.
    pub text: String,
    /// The output as shown.
    pub shown: Vec<String>,
    /// The exit status as shown; `None` means 0.
    pub status: Option<i32>,
    /// The lines of output and status, counted from 0.
    pub place: Range<usize>,
    /// How far the block is indented.
    pub indent: usize,
}

/// The text of a file, or of a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The 1-based line of the fence.
    pub line: usize,
    /// The file, relative to the folder in which the commands run.
    pub name: String,
    /// The lines.
    pub text: Vec<String>,
}

/// The fence that opened a block.
struct Fence {
    mark: String,
    indent: usize,
    info: String,
    line: usize,
}

impl Fence {
    fn open(text: &str, line: usize) -> Option<Fence> {
        let indent = text.len() - text.trim_start().len();
        let text = text.trim();
        let mark: String = ["`", "~"]
            .iter()
            .map(|c| text.chars().take_while(|t| c.starts_with(*t)).collect::<String>())
            .find(|mark| mark.len() >= 3)?;
        let info = text[mark.len()..].trim().to_string();
        Some(Fence { mark, indent, info, line })
    }

    fn is_closed_by(&self, text: &str) -> bool {
        let text = text.trim();
        text.starts_with(&self.mark) && text.chars().all(|c| self.mark.starts_with(c))
    }
}

/// Words with which a line of a shell block may begin: what builds and tests the tool itself.
const BUILD_COMMANDS: [&str; 4] = ["cargo ", ".ci/", "git ", "#"];

impl Document {
    /// Takes a document apart.
    pub fn read(text: &str) -> Document {
        let mut document =
            Document { lines: text.lines().map(String::from).collect(), ..Document::default() };
        let mut open: Option<(Fence, usize)> = None;
        for at in 0..document.lines.len() {
            let line = document.lines[at].clone();
            match &open {
                None => match Fence::open(&line, at + 1) {
                    Some(fence) => open = Some((fence, at + 1)),
                    None => document.outside(at, &line),
                },
                Some((fence, _)) if fence.is_closed_by(&line) => {
                    let (fence, first) = open.take().expect("matched above");
                    document.block(&fence, first..at);
                }
                Some(_) => {}
            }
        }
        if let Some((fence, _)) = open {
            document.mistakes.push((fence.line, "this block is never closed".into()));
        }
        document
    }

    /// A line outside of fenced blocks; indented by four it may be a block of its own.
    fn outside(&mut self, at: usize, line: &str) {
        let indented = line.starts_with("    ") || line.starts_with('\t');
        if is_prompt(line) || indented && is_ours(line) {
            self.not_executed(at);
        }
    }

    fn not_executed(&mut self, at: usize) {
        let command = self.lines[at].trim().to_string();
        self.mistakes.push((at + 1, format!("not executed: put it in a ```console block: {command}")));
    }

    fn block(&mut self, fence: &Fence, lines: Range<usize>) {
        let mut words = fence.info.split_whitespace();
        match words.next().unwrap_or_default() {
            "console" => self.commands(fence, lines),
            "sh" | "bash" | "shell" | "zsh" | "fish" => {
                for at in lines {
                    let line = self.lines[at].trim();
                    let built = BUILD_COMMANDS.iter().any(|word| line.starts_with(word));
                    if is_ours(line) || !(line.is_empty() || built) {
                        self.not_executed(at);
                    }
                }
            }
            _ => {
                for at in lines.clone() {
                    if is_prompt(&self.lines[at]) || is_ours(&self.lines[at]) {
                        self.not_executed(at);
                    }
                }
                self.excerpt(fence, lines, words.next());
            }
        }
    }

    /// A block with `file=NAME` or `from=NAME`.
    fn excerpt(&mut self, fence: &Fence, lines: Range<usize>, attribute: Option<&str>) {
        let Some((key, name)) = attribute.and_then(|word| word.split_once('=')) else { return };
        let text = lines.map(|at| dedented(&self.lines[at], fence.indent).to_string()).collect();
        let excerpt = Excerpt { line: fence.line, name: name.into(), text };
        if name.is_empty() || name.starts_with('/') || name.split('/').any(|part| part == "..") {
            self.mistakes.push((fence.line, format!("`{name}` is not below the folder of the commands")));
            return;
        }
        match key {
            "file" => self.items.push(Item::File(excerpt)),
            "from" => self.items.push(Item::Quote(excerpt)),
            _ => self.mistakes.push((fence.line, format!("unknown word `{key}=`: use file= or from="))),
        }
    }

    fn commands(&mut self, fence: &Fence, lines: Range<usize>) {
        let text = |at: usize| dedented(&self.lines[at], fence.indent);
        let starts: Vec<usize> = lines.clone().filter(|&at| text(at).starts_with("$ ")).collect();
        if starts.first() != Some(&lines.start) {
            let message = "a console block begins with a command: `$ COMMAND`".to_string();
            self.mistakes.push((fence.line, message));
            return;
        }
        let mut found = Vec::new();
        for (i, &start) in starts.iter().enumerate() {
            let end = starts.get(i + 1).copied().unwrap_or(lines.end);
            let continued = (start + 1..end).take_while(|&at| text(at).starts_with("> ")).count();
            let first = start + 1 + continued;
            let words: Vec<&str> = (start..first).map(|at| &text(at)[2..]).collect();
            let mut last = end;
            while last > first && text(last - 1).trim().is_empty() {
                last -= 1;
            }
            let status = (last > first).then(|| text(last - 1).strip_prefix("? ")).flatten();
            let status = status.and_then(|word| word.trim().parse().ok());
            let shown_to = last - usize::from(status.is_some());
            found.push(Item::Command(Command {
                line: start + 1,
                text: words.join("\n"),
                shown: (first..shown_to).map(|at| text(at).to_string()).collect(),
                status,
                place: first..last,
                indent: fence.indent,
            }));
        }
        self.items.extend(found);
    }

    /// The document with other lines in place of some: pairs of a range and its new lines, in order.
    pub fn with(&self, changes: &[(Range<usize>, Vec<String>)]) -> String {
        let mut lines = self.lines.clone();
        for (place, new) in changes.iter().rev() {
            lines.splice(place.clone(), new.iter().cloned());
        }
        lines.join("\n") + "\n"
    }
}

/// A line that shows a prompt and a command.
fn is_prompt(line: &str) -> bool {
    line.trim_start().starts_with("$ ")
}

/// A line that runs our command.
fn is_ours(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("spinor ") || line.starts_with("cargo run ")
}

/// A line of a block without the block's indentation.
fn dedented(line: &str, indent: usize) -> &str {
    let blank = line.len() - line.trim_start().len();
    &line[indent.min(blank)..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(document: &Document) -> Vec<&Command> {
        let mut found = Vec::new();
        for item in &document.items {
            if let Item::Command(command) = item {
                found.push(command);
            }
        }
        found
    }

    #[test]
    fn commands_outputs_and_statuses() {
        let text =
            "Text.\n\n```console\n$ spinor check a \\\n> --search bfs\nviolated\n\n? 1\n\n$ echo\n```\n";
        let document = Document::read(text);
        assert_eq!(document.mistakes, []);
        let found = commands(&document);
        assert_eq!(found[0].text, "spinor check a \\\n--search bfs");
        assert_eq!((found[0].line, found[0].status, found[0].place.clone()), (4, Some(1), 5..8));
        assert_eq!(found[0].shown, ["violated", ""]);
        assert_eq!((found[1].text.as_str(), found[1].status, found[1].shown.len()), ("echo", None, 0));
        assert_eq!(
            document.with(&[(5..8, vec!["new".into()]), (10..10, vec!["two".into()])]),
            "Text.\n\n```console\n$ spinor check a \\\n> --search bfs\nnew\n\n$ echo\ntwo\n```\n"
        );
    }

    #[test]
    fn blocks_in_lists_are_indented() {
        let document = Document::read("- first\n\n  ```console\n  $ true\n    more\n  ```\n");
        assert_eq!(commands(&document)[0].shown, ["  more"]);
        assert_eq!(commands(&document)[0].indent, 2);
    }

    #[test]
    fn files_and_quotes() {
        let text = "```promela file=a.pml\nbyte x;\n```\n```promela from=examples/a.pml\ny\n```\n```promela\nz\n```\n";
        let document = Document::read(text);
        let excerpt =
            |line, name: &str, text: &str| Excerpt { line, name: name.into(), text: vec![text.into()] };
        assert_eq!(
            document.items,
            [Item::File(excerpt(1, "a.pml", "byte x;")), Item::Quote(excerpt(4, "examples/a.pml", "y"))]
        );
        assert_eq!(Document::read("```promela file=../a\n```\n").mistakes.len(), 1);
        assert_eq!(Document::read("```promela fiel=a\n```\n").mistakes.len(), 1);
    }

    #[test]
    fn a_command_that_is_not_executed_is_a_mistake() {
        for text in [
            "$ spinor check m\n",
            "    spinor check m\n",
            "```\n$ ls\n```\n",
            "```text\nspinor check m\n```\n",
            "```sh\nspinor check m\n```\n",
            "```bash\nls\nfile\n```\n",
            "```sh\ncargo run --release -- check m\n```\n",
            "```console\nspinor check m\n```\n",
            "```console\n```\n",
            "```console\n$ true\n",
        ] {
            assert_eq!(
                Document::read(text).mistakes.len(),
                if text.contains("file\n") { 2 } else { 1 },
                "{text}"
            );
        }
        let fine = "`spinor check` is fine\n\n```sh\ncargo nextest run\n```\n\n```json\n{}\n```\n";
        assert_eq!(Document::read(fine).mistakes, []);
    }
}
