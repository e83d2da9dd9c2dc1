//! What a swarm found, for people and for machines.

use crate::report_text::{grouped, plural};
use crate::swarm::Swarm;
use crate::{VERSION, report_json, report_text};
use serde_json::{Value, json};
use trace::Palette;
use trace::visible::one_line;

/// Searches that are told one by one.
const TOLD: usize = 20;
/// Statements that no search executed and are told.
const TOLD_STATEMENTS: usize = 20;

impl Swarm {
    /// The report as text; `quiet` leaves the searches out.
    pub fn text(&self, model: &str, quiet: bool, palette: Palette) -> String {
        let mut out = match &self.decided {
            Some(report) => report_text::text(report, quiet, palette),
            None => {
                let verdict = palette.unknown("unknown".to_string());
                let what = "no search found a violation; they leave states out, so that nothing is shown";
                format!("{}: {verdict}\n  {what}\n", one_line(model))
            }
        };
        if !quiet {
            self.searches(palette, &mut out);
            self.unreached_text(palette, &mut out);
        }
        out
    }

    fn searches(&self, palette: Palette, out: &mut String) {
        let states: u64 = self.runs.iter().map(|run| run.states).sum();
        let n = match self.runs.len() {
            1 => "1 search".to_string(),
            n => format!("{} searches", grouped(n as u64)),
        };
        let (time, states) = (self.time.as_secs_f64(), plural(states, "state"));
        out.push_str(&format!("\n{}: {n} in {time:.1} s, {states}\n", palette.strong("swarm")));
        for run in self.runs.iter().take(TOLD) {
            let (words, verdict, time) = (run.words.join(" "), run.verdict, run.time.as_secs_f64());
            let (states, depth) = (plural(run.states, "state"), grouped(run.depth));
            out.push_str(&format!("  {words}: {verdict}, {states}, depth {depth}, {time:.1} s\n"));
        }
        if self.runs.len() > TOLD {
            out.push_str(&format!("  … and {} more\n", self.runs.len() - TOLD));
        }
    }

    fn unreached_text(&self, palette: Palette, out: &mut String) {
        let all = self.unreached().count();
        // Where something was found the searches ended early.
        if all == 0 || self.verdict() != "unknown" {
            return;
        }
        out.push_str(&format!("\n{}\n", palette.strong("executed by no search")));
        for (process, statement) in self.unreached().take(TOLD_STATEMENTS) {
            let place = palette.place(format!("{}:{}", one_line(&statement.file), statement.line));
            let text = one_line(&statement.text);
            out.push_str(&format!("  {place} {}: {text}\n", process.trim_matches(':')));
        }
        if all > TOLD_STATEMENTS {
            out.push_str(&format!("  … and {} more\n", all - TOLD_STATEMENTS));
        }
    }

    /// The report as JSON.
    pub fn json(&self, model: &str) -> Value {
        let search = |run: &crate::swarm::Run| {
            json!({
                "options": run.words,
                "verdict": run.verdict,
                "states": run.states,
                "depth": run.depth,
                "seconds": run.time.as_secs_f64(),
            })
        };
        let statement = |(process, s): (&str, &system::coverage::Statement)| json!({"process": process, "file": s.file, "line": s.line, "column": s.column, "text": s.text});
        json!({
            "tool": "spinor",
            "version": VERSION,
            "model": model,
            "verdict": self.verdict(),
            "searches": self.runs.iter().map(search).collect::<Vec<Value>>(),
            "unreached": self.unreached().map(statement).collect::<Vec<Value>>(),
            "seconds": self.time.as_secs_f64(),
            "report": self.decided.as_ref().map(report_json::json),
        })
    }

    /// 0, 1 or 3, as that of a check.
    pub fn exit_status(&self) -> u8 {
        const UNKNOWN: u8 = 3;
        self.decided.as_ref().map_or(UNKNOWN, |report| report.exit_status())
    }
}
