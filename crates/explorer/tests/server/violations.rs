//! What a check finds, as a place to stand at.

use quotient_engine::{Check, Model, ViolationKind};
use quotient_explain::{Course, Ending, possible};
use quotient_explorer::checking;
use quotient_seams::{Interrupt, System};

use crate::answers::subjects;

/// What a check finds is where the page opens: the run of a violation, followed in the program as written, ends in the same one, and says so
/// in the same words. A deadlock is a state in which nothing can be done; the end of a cycle is a state that was there before.
#[test]
fn runs_end_where_the_check_found_what_is_wrong() {
    let (mut wrong, mut stuck, mut cycles, mut claims) = (0, 0, 0, 0);
    let provided = "byte a[2] = 1; byte i; active proctype Q() { do :: i < 2 -> i++ od }\n\
                    active proctype P() provided (a[i] == 1) { byte x; do :: x = 1 :: x = 0 od }\n";
    let provided = ("provided.pml".to_owned(), Model::from_text("provided.pml", provided).unwrap());
    for (name, model) in std::iter::once(provided).chain(subjects()) {
        let mut check = Check::default();
        check.limits.states = Some(5_000);
        let Ok(outcome) = model.check(&check) else { continue };
        for violation in &outcome.violations {
            let Some((position, cycle)) = checking::position(&model, violation) else { panic!("{name}") };
            let mut machine = model.as_written().unwrap();
            let course = Course::follow(&mut machine, &position, &Interrupt::new()).unwrap();
            let told = match course.ending {
                Ending::Violation(code) => Some(machine.violation(code)),
                Ending::Open => None,
                ref other => panic!("{name}: {position}: {other:?}"),
            };
            let (last, _) = course.state(&mut machine, course.len());
            match (violation.kind, told) {
                (_, _) if cycle > 0 => {
                    assert_eq!(course.state(&mut machine, course.len() - cycle).0, last, "{name}");
                    cycles += 1;
                }
                (ViolationKind::Deadlock, told) => {
                    let stays =
                        possible(&mut machine, &last).iter().all(|p| p.record.state.as_ref() == Some(&last));
                    assert!(told.is_none() && stays, "{name}: {position}");
                    stuck += 1;
                }
                (kind, Some(told)) => {
                    assert_eq!(
                        (told.kind, told.message),
                        (kind, violation.message.clone()),
                        "{name}: {position}"
                    );
                    wrong += 1;
                }
                // What a claim forbids, the program does all the same.
                (ViolationKind::Never | ViolationKind::Ltl | ViolationKind::Trace, None) => claims += 1,
                (kind, None) => panic!("{name}: {kind}: {position}"),
            }
        }
    }
    println!("{wrong} violations, {stuck} deadlocks, {cycles} cycles, {claims} of claims");
    assert!(wrong > 50 && stuck > 20, "{wrong} {stuck} {cycles}");
}
