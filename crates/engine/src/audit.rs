//! Audits of the reductions on sampled states of the user's own model; a finding is a bug of the checker.

use quotient_ample::{AmpleSets, Question};
use quotient_machine::Machine;
use quotient_seams::{Identity, Interrupt, Representative as _};
use quotient_search::{AmpleAudit, audit_ample};
use quotient_symmetry::audit::audit;

use crate::plan;
use crate::relative::Orbits;
use crate::symmetry_choice::{self, Representative};
use crate::{Check, CheckError};

const SEED: u64 = 1;

/// Raised when the audit is to end.
fn interrupt(check: &Check<'_>) -> Interrupt {
    check.interrupt.cloned().unwrap_or_default()
}

/// Do states behave like their representatives? Gives how many were compared, and how many of them were renamed.
pub(crate) fn representatives(
    machine: &mut Machine,
    representative: Option<&mut Representative>,
    check: &Check<'_>,
) -> Result<Option<(u64, u64)>, CheckError> {
    let Some(representative) = representative else { return Ok(None) };
    let mut canonical = symmetry_choice::canonical(machine, representative);
    let audit = audit(machine, representative, &mut canonical, check.audit, SEED, &interrupt(check))
        .map_err(CheckError::Exhausted)?;
    // Forms that are not canonical after all prove nothing.
    if audit.wrong > 0 && canonical.statistics().over_budget == 0 {
        return Err(CheckError::WrongRepresentatives(audit.wrong));
    }
    Ok(Some((audit.states, audit.renamed)))
}

/// The same for proved symmetries; `canonical` is another one of them.
pub(crate) fn proved(
    machine: &mut Machine,
    orbits: &mut Orbits<'_>,
    canonical: &mut Orbits<'_>,
    check: &Check<'_>,
) -> Result<Option<(u64, u64)>, CheckError> {
    if !orbits.is_canonical() {
        return Ok(None);
    }
    let audit = audit(machine, orbits, canonical, check.audit, SEED, &interrupt(check))
        .map_err(CheckError::Exhausted)?;
    if audit.wrong > 0 {
        return Err(CheckError::WrongRepresentatives(audit.wrong));
    }
    Ok(Some((audit.states, audit.renamed)))
}

/// Do the moves of ample sets commute with the others?
pub(crate) fn ample_sets(
    machine: &mut Machine,
    representative: Option<&mut Representative>,
    check: &Check<'_>,
) -> Result<Option<AmpleAudit>, CheckError> {
    let (samples, interrupt) = (check.audit, interrupt(check));
    // The numbers of objects depend on the order of steps: diamonds close up to these, whatever the search stores.
    let order = Some(symmetry_choice::Symmetry::Exact);
    let has_objects = machine.program().features.dynamic;
    let mut exact = match has_objects {
        true => symmetry_choice::representative(machine, &Check { symmetry: order, ..*check }),
        false => None,
    };
    let representative = if has_objects { exact.as_mut() } else { representative };
    let independence = match &representative {
        None => plan::independence(&Identity, check),
        Some(representative) => plan::independence(*representative, check),
    };
    let Ok(mut ample) = AmpleSets::new(machine, &Question::Safety, independence) else { return Ok(None) };
    let audit = match representative {
        None => audit_ample(machine, &mut Identity, &mut ample, samples, SEED, &interrupt),
        Some(representative) => audit_ample(machine, representative, &mut ample, samples, SEED, &interrupt),
    };
    let audit = audit.map_err(CheckError::Exhausted)?;
    if audit.wrong > 0 {
        return Err(CheckError::WrongAmpleSets(audit.wrong));
    }
    Ok(Some(audit))
}
