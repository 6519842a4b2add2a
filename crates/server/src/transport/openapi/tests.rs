use std::collections::BTreeSet;

use chorus_wire::attention::tools::Defer;
use chorus_wire::threads::{HeartbeatSession, SummarizeThread};
use chorus_wire::tool::{Arguments, Tool};
use chorus_wire::tool_list;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::document::{document, drafted, examples};
use super::names;
use crate::transport::all;

/// Every operation, checked for one thing; all that lack it are named at once.
fn lacking(missing: impl Fn(&super::Operation, &super::Draft<'_>, &Value) -> Option<String>) {
    let mut asked = SchemaSettings::draft2020_12().for_deserialize().into_generator();
    let mut answered = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut found = Vec::new();
    for operation in &all().operations {
        let draft = drafted(operation, &mut asked, &mut answered);
        if let Some(why) = missing(operation, &draft, &examples(operation)) {
            found.push(format!("{} {}: {why}", operation.method, operation.path));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

// covers: OPS-90
#[test]
fn every_operation_says_what_it_does_and_what_it_answers() {
    lacking(|operation, draft, _| match () {
        () if operation.doc.summary.is_empty() => Some("a summary".into()),
        () if draft.answers.is_empty() => Some("what it answers: `Doc::with`".into()),
        () => names::of(operation.path)
            .find(|name| names::meaning(operation, name).is_none())
            .map(|name| format!("what {{{name}}} means: `Routes::name`")),
    });
    let mut ids = BTreeSet::new();
    for operation in &all().operations {
        assert!(ids.insert(operation.doc.id), "two operations are called {}", operation.doc.id);
    }
}

// covers: OPS-91
#[test]
fn every_example_is_there_and_is_what_the_host_reads_and_writes() {
    lacking(|operation, draft, examples| {
        if examples.is_null() {
            return Some(format!("an entry {:?} in the examples of its group", operation.doc.id));
        }
        let told = [("body", draft.body_check), ("answer", draft.answer_check)];
        told.into_iter().find_map(|(name, check)| {
            let example = &examples[name];
            match check {
                Some(_) if example.is_null() => Some(format!("an example of its {name}")),
                Some(check) => check(example).err().map(|why| format!("its {name}: {why}")),
                None => None,
            }
        })
    });
    let operations = all().operations;
    for file in operations.iter().map(|o| o.examples).collect::<BTreeSet<_>>() {
        let examples: Value = serde_json::from_str(file).unwrap();
        for id in examples.as_object().unwrap().keys() {
            assert!(operations.iter().any(|o| o.doc.id == id), "no operation is called {id}");
        }
    }
}

// covers: ATT-422
#[test]
fn every_tool_does_what_some_operation_does() {
    let operations = all().operations;
    let likes = operations.iter().flat_map(|operation| operation.doc.same.iter());
    let done: Vec<&Tool> = likes.map(|like| like.tool).collect();
    let alone: Vec<&Tool> = tool_list::all().filter(|tool| !done.contains(tool)).collect();
    // REST summarizes nothing, puts nothing off, and no program that lives longer than a request calls it.
    assert_eq!(alone, [SummarizeThread::TOOL, HeartbeatSession::TOOL, Defer::TOOL]);
}

#[test]
fn every_reference_leads_somewhere() {
    let document = document(&all().operations);
    let mut stack = vec![&document];
    while let Some(value) = stack.pop() {
        if let Some(target) = value["$ref"].as_str() {
            let found = document.pointer(target.trim_start_matches('#'));
            assert!(found.is_some(), "{target} is not in the document");
        }
        match value {
            Value::Object(object) => stack.extend(object.values()),
            Value::Array(list) => stack.extend(list),
            _ => {}
        }
    }
}
