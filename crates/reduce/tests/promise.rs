//! Which promises (`xr`, `xs`) a reduction relies on.

#[path = "../../machine/tests/common/mod.rs"]
mod common;

use common::Model;
use reduce::promise::worth_relying_on;

fn relied_on(users: &str) -> Vec<usize> {
    let text = format!("chan c = [2] of {{ byte }}; chan d = [2] of {{ byte }}; byte i; {users}");
    worth_relying_on(&Model::new("promises", &text).expect("a program").program)
}

#[test]
fn promises_count_where_they_say_more_than_is_known() {
    let owner = "active proctype p() { xs c; c!1 }";
    let any = "active proctype q() { chan e; if :: e = c :: e = d fi; e!2 }";
    assert_eq!(relied_on(&format!("{owner} {any}")), [0]);
    assert!(relied_on(&format!("{owner} active proctype q() {{ d!2 }}")).is_empty(), "that is known");
    let receives = "active proctype q() { chan e; if :: e = c :: e = d fi; e?_ }";
    assert!(relied_on(&format!("{owner} {receives}")).is_empty(), "who receives does not send");
    assert!(relied_on(&format!("{} {any}", owner.replace("active", "active [2]"))).is_empty());
}

#[test]
fn promises_that_could_be_broken_unseen_do_not_count() {
    let owner = "active proctype p() { xr c; c?_ }";
    let hidden = "active proctype q() { chan e; atomic { if :: e = c :: e = d fi; e?_ } }";
    assert!(relied_on(&format!("{owner} {hidden}")).is_empty());
    let shared = "chan e; active proctype q() { if :: e = c :: e = d fi; e?_ }";
    assert!(relied_on(&format!("{owner} {shared}")).is_empty());
}
