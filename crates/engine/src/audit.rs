//! Audits of the reductions on sampled states of the user's own model; a finding is a bug of the checker.

use quotient_ample::{AmpleSets, DynamicSets, Question};
use quotient_machine::Machine;
use quotient_seams::{Identity, Interrupt, Representative as _};
use quotient_search::{AmpleAudit, audit_ample};
use quotient_symmetry::audit::audit;

use crate::relative::Orbits;
use crate::symmetry_choice::{self, Representative};
use crate::{Check, CheckError, PartialOrder};

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
    let Some(mut canonical) = symmetry_choice::canonical(machine, representative) else { return Ok(None) };
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
    let audit = if machine.program().features.dynamic {
        let symmetric = check.partial_order == PartialOrder::SymmetricIndependence;
        let Ok(mut ample) = DynamicSets::new(machine, &Question::Safety, symmetric) else { return Ok(None) };
        // The numbers of objects depend on the order of steps: diamonds close up to these, whatever the search stores.
        let order = symmetry_choice::Symmetry::Exact;
        let exact = symmetry_choice::representative(machine, &Check { symmetry: Some(order), ..*check });
        match exact {
            None => audit_ample(machine, &mut Identity, &mut ample, samples, SEED, &interrupt),
            Some(mut exact) => audit_ample(machine, &mut exact, &mut ample, samples, SEED, &interrupt),
        }
    } else {
        let renames = representative.as_ref().is_some_and(|r| r.renames());
        let Ok(mut ample) = AmpleSets::new(machine, &Question::Safety, renames) else { return Ok(None) };
        match representative {
            None => audit_ample(machine, &mut Identity, &mut ample, samples, SEED, &interrupt),
            Some(representative) => {
                audit_ample(machine, representative, &mut ample, samples, SEED, &interrupt)
            }
        }
    };
    let audit = audit.map_err(CheckError::Exhausted)?;
    if audit.wrong > 0 {
        return Err(CheckError::WrongAmpleSets(audit.wrong));
    }
    Ok(Some(audit))
}
