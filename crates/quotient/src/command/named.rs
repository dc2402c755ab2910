//! Options whose values are the variants of an enum: the enum's own table of names is all there is.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Each value with its name and what it means.
pub(crate) type Names<T> = &'static [(T, &'static str, &'static str)];

/// The parser of such an option.
#[derive(Clone)]
pub(crate) struct Named<T: 'static>(pub(crate) Names<T>);

impl<T: Copy + Send + Sync + 'static> Named<T> {
    fn values(&self) -> impl Iterator<Item = PossibleValue> + use<T> {
        self.0.iter().map(|(_, name, about)| PossibleValue::new(*name).help(*about))
    }
}

impl<T: Copy + Send + Sync + 'static> TypedValueParser for Named<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        let name = PossibleValuesParser::new(self.values()).parse_ref(command, argument, value)?;
        let found = self.0.iter().find(|(_, known, _)| *known == name);
        found.map(|(value, ..)| *value).ok_or_else(|| clap::Error::new(clap::error::ErrorKind::InvalidValue))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.values()))
    }
}
