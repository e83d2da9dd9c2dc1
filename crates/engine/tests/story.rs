//! Stories and charts of real runs: what they say of one model, to the letter (`UPDATE_EXPECT=1` writes it
//! anew), and that what they say is true and can be read for every model that there is here.

use draw::{Frame, chart_svg as svg};
use engine::simulate::{SimulateOptions, Watch, simulate};
use engine::simulation::Ending;
use engine::{Disk, Flow, Source};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use system::{Fault, Snapshot, Value};
use trace::change::{Of, changes};
use trace::msc::{self, Mark, text};
use trace::{ModelOptions, Palette, Run, itf, story};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Looks at the end of a simulation.
struct AtEnd<'a>(&'a mut (dyn FnMut(&Run<'_>, Option<&Fault>) + Send));

impl Watch for AtEnd<'_> {
    fn step(&mut self, _: &mut Run<'_>) -> Flow {
        Flow::Continue
    }

    fn end(&mut self, run: &mut Run<'_>, ending: &Ending) {
        let fault = match ending {
            Ending::Fault(fault) => Some(fault),
            _ => None,
        };
        (self.0)(run, fault);
    }
}

/// Runs a model at random and looks at the run; false when it cannot be run.
fn look(path: &str, seed: u64, steps: u64, mut view: impl FnMut(&Run<'_>, Option<&Fault>) + Send) -> bool {
    let dialect = if path.contains("pv") { "pv" } else { "spin" };
    let options = ModelOptions { dialect: dialect.into(), ..ModelOptions::default() };
    let source = Source { path: path.into(), options, ..Source::default() };
    let options = SimulateOptions { source, seed, steps: Some(steps) };
    let stop = engine::Stop::never();
    let answer = simulate(&options, &Disk, &stop, &mut || Some(b'x'), &mut AtEnd(&mut view));
    answer.result.is_ok()
}

/// All models of the examples and of the golden tests.
fn models() -> Vec<String> {
    let mut found = Vec::new();
    let mut pending = vec![root().join("examples"), root().join("tests/models")];
    while let Some(folder) = pending.pop() {
        for path in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            match path.is_dir() {
                true => pending.push(path),
                false if path.extension().is_some_and(|e| e == "pml") => found.push(path),
                false => {}
            }
        }
    }
    found.sort();
    found.into_iter().map(|path| path.to_string_lossy().into_owned()).collect()
}

#[test]
fn one_run_to_the_letter() {
    // Relative, so that the expected texts are the same everywhere.
    let folder = Path::new("tests/story");
    let model = folder.join("post.pml");
    let mut seen: Vec<(&str, String)> = Vec::new();
    // A seed with which the assertion is met.
    assert!(look(&model.to_string_lossy(), 3, 1000, |run, fault| {
        let told = story::whole(run, Palette::PLAIN) + "\n" + &story::ending(run, fault, Palette::PLAIN);
        let chart = msc::whole(run, fault);
        seen = vec![
            ("story.txt", told),
            ("chart.txt", text::draw(&chart, Palette::PLAIN)),
            ("chart.svg", svg::draw(&chart, "A day at the post office", Frame::File)),
        ];
    }));
    for (name, text) in seen {
        let expected = folder.join(format!("post.{name}"));
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&expected, &text).unwrap();
        }
        let known = std::fs::read_to_string(&expected).unwrap_or_default();
        assert_eq!(text, known, "{}", expected.display());
    }
}

/// Whether JSON is a value of the Informal Trace Format.
fn is_informal(value: &Json) -> bool {
    let all = |list: &Json| list.as_array().is_some_and(|list| list.iter().all(is_informal));
    let digits = |text: &Json| text.as_str().is_some_and(|text| text.parse::<i64>().is_ok());
    let is_pair = |pair: &Json| pair.as_array().is_some_and(|pair| pair.len() == 2) && all(pair);
    match value {
        Json::Bool(_) | Json::String(_) => true,
        Json::Array(_) => all(value),
        Json::Object(object) => match object.iter().find(|(key, _)| key.starts_with('#')) {
            Some((key, inner)) if object.len() == 1 => match key.as_str() {
                "#bigint" => digits(inner),
                "#tup" => all(inner),
                "#map" => inner.as_array().is_some_and(|pairs| pairs.iter().all(is_pair)),
                _ => false,
            },
            Some(_) => false,
            None => object.values().all(is_informal),
        },
        Json::Null | Json::Number(_) => false,
    }
}

#[test]
fn exported_traces_follow_the_format() {
    for model in models() {
        look(&model, 0, 60, |run, _| {
            let mut trace = Vec::new();
            itf::write(run, itf::About { source: &model, description: "a run", cycle: None }, &mut trace)
                .unwrap();
            let trace: serde_json::Value = serde_json::from_slice(&trace).unwrap();
            assert_eq!(trace["#meta"]["format"], "ITF");
            let vars: BTreeSet<&str> =
                trace["vars"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
            for (i, state) in trace["states"].as_array().unwrap().iter().enumerate() {
                assert_eq!(state["#meta"]["index"], i, "{model}");
                let state = state.as_object().unwrap();
                let names: BTreeSet<&str> =
                    state.keys().map(String::as_str).filter(|k| *k != "#meta").collect();
                assert_eq!(names, vars, "{model}");
                assert!(names.iter().all(|name| is_informal(&state[*name])), "{model}: {state:?}");
            }
        });
    }
}

/// Every value without parts by its full name, and every channel.
fn flat(state: &Snapshot) -> BTreeMap<String, Value> {
    fn add(name: String, value: &Value, out: &mut BTreeMap<String, Value>) {
        match value {
            Value::Array(list) => {
                list.iter().enumerate().for_each(|(i, value)| add(format!("{name}[{i}]"), value, out));
            }
            Value::Record(fields) => {
                fields.iter().for_each(|(field, value)| add(format!("{name}.{field}"), value, out));
            }
            _ => assert!(out.insert(name.clone(), value.clone()).is_none(), "two values are called {name}"),
        }
    }
    let mut out = BTreeMap::new();
    state.globals.iter().for_each(|(name, value)| add(name.clone(), value, &mut out));
    for process in &state.processes {
        let name = story::process_name(&process.name, process.pid);
        process.locals.iter().for_each(|(local, value)| add(format!("{name}:{local}"), value, &mut out));
    }
    for channel in state.channels.iter().filter(|channel| channel.capacity > 0) {
        out.insert(format!("={}", channel.id.name), channel.contents());
    }
    out
}

/// The changes of all steps, applied to the first state, give the last one.
#[test]
fn what_a_story_says_is_true() {
    let mut steps = 0;
    for model in models() {
        for seed in 0..2 {
            look(&model, seed, 120, |run, _| {
                let mut values = flat(&run.snapshot(0));
                for number in 1..=run.len() {
                    for change in story::tell(run, number).unwrap().changes {
                        let sign = if change.of == Of::Channel { "=" } else { "" };
                        let name = format!("{sign}{}", change.full_name());
                        assert_eq!(values.get(&name), change.before.as_ref(), "{model} {number}: {name}");
                        match change.after {
                            Some(value) => drop(values.insert(name, value)),
                            None => drop(values.remove(&name)),
                        }
                    }
                    steps += 1;
                }
                assert_eq!(values, flat(&run.snapshot(run.len())), "{model}");
                assert!(changes(&run.snapshot(0), &run.snapshot(0)).is_empty());
            });
        }
    }
    assert!(steps > 2000, "only {steps} steps were looked at");
}

/// Every receive is matched with a send of the same message through the same channel, before it.
#[test]
fn arrows_lead_from_sends_to_receives() {
    let mut arrows = 0;
    for model in models() {
        look(&model, 1, 200, |run, fault| {
            let chart = msc::whole(run, fault);
            let mut ends = HashMap::new();
            for (row, content) in chart.rows.iter().enumerate() {
                if let Mark::Send { lane, message } | Mark::Receive { lane, message } = content.mark {
                    ends.entry(message).or_insert_with(Vec::new).push((lane, row));
                }
            }
            for (number, message) in chart.messages.iter().enumerate() {
                let expected: Vec<_> = message.sent.into_iter().chain(message.received).collect();
                assert_eq!(ends.get(&number).cloned().unwrap_or_default(), expected, "{model}");
                assert!(expected.windows(2).all(|pair| pair[0].1 < pair[1].1), "{model}: time goes down");
                arrows += usize::from(expected.len() == 2);
            }
            let in_channels: usize = run.snapshot(run.len()).channels.iter().map(|c| c.messages.len()).sum();
            let gone = chart.lanes.iter().any(|lane| lane.ends.is_some());
            let left = chart.messages.iter().filter(|message| message.received.is_none()).count();
            assert!(left == in_channels || gone && left > in_channels, "{model}: {left}, {in_channels}");
        });
    }
    assert!(arrows > 100, "only {arrows} arrows were looked at");
}

/// A piece of text in a chart: left, top, right, bottom, the text.
type Piece = (f64, f64, f64, f64, String);

/// Where the texts of a chart stand, in a font whose characters are 7.2 wide.
fn pieces(document: &roxmltree::Document<'_>) -> Vec<Piece> {
    let number = |node: &roxmltree::Node<'_, '_>, name| node.attribute(name).unwrap().parse::<f64>().unwrap();
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    let piece = |node: roxmltree::Node<'_, '_>| {
        let text: String =
            node.children().filter(roxmltree::Node::is_text).filter_map(|t| t.text()).collect();
        let class = node.attribute("class").unwrap_or("");
        let (x, y, width) = (number(&node, "x"), number(&node, "y"), text.chars().count() as f64 * 7.2);
        let left = match (class, node.attribute("text-anchor")) {
            ("number", _) => x - width * 11.0 / 12.0,
            (_, Some("end")) => x - width,
            ("name" | "in", _) => x - width / 2.0,
            _ => x,
        };
        (left, y - 9.0, left + width, y + 2.0, text)
    };
    texts.filter(|node| !matches!(node.attribute("class"), Some("title"))).map(piece).collect()
}

#[test]
fn charts_are_good_svg_in_which_no_texts_meet() {
    let mut charts = 0;
    for model in models() {
        for (seed, steps) in [(0, 25), (1, 200)] {
            look(&model, seed, steps, |run, fault| {
                let drawn = svg::draw(&msc::whole(run, fault), "<model> & \"run\"", Frame::File);
                let document = roxmltree::Document::parse(&drawn).expect("XML");
                let svg = document.root_element();
                let size = |name| svg.attribute(name).unwrap().parse::<f64>().unwrap();
                let (width, height) = (size("width"), size("height"));
                let all = pieces(&document);
                for (i, a) in all.iter().enumerate() {
                    let inside = a.0 >= 0.0 && a.1 >= 0.0 && a.2 <= width && a.3 <= height;
                    assert!(inside, "{model}: {a:?} is outside of {width} × {height}");
                    for b in &all[i + 1..] {
                        let apart = a.2 <= b.0 || b.2 <= a.0 || a.3 <= b.1 || b.3 <= a.1;
                        assert!(apart, "{model}: {a:?} meets {b:?}");
                    }
                }
                let foreign = document.descendants().any(|node| {
                    ["image", "script", "foreignObject", "use"].contains(&node.tag_name().name())
                        || node.attribute("href").is_some()
                });
                assert!(!foreign, "{model}: a chart needs nothing else");
                charts += 1;
            });
        }
    }
    assert!(charts > 40, "only {charts} charts were looked at");
}
