//! Classes with too few values get more.
//!
//! Two classes can be exchanged only if they have as many values. A process whose id happens to be the initial value of a variable has one value
//! fewer there than the others: `byte l; … l = _pid` gives {0} to process 0 and {0, 1} to process 1. A value that occurs nowhere in a class
//! changes nothing: no cell holds it, until a renaming puts it there, and then it is compared, copied and sent like any other. So
//! classes that look alike (the same kinds of cells and fields) are padded to the same size with values that fit and are not used. Classes
//! that are indices, are computed with, or may hold what is not known are left alone.

use std::collections::{BTreeMap, BTreeSet};

use crate::ground::Var;
use crate::sorts::{ClassId, Key, Sorts};

/// Most values that a class is given.
const MOST: usize = 4;

impl Sorts<'_> {
    /// Pads what can be padded; `false` if nothing was.
    pub(crate) fn pad(&mut self) -> bool {
        let computed: BTreeSet<ClassId> = self
            .atoms
            .iter()
            .flat_map(|a| a.classes.iter().chain(&a.result))
            .map(|c| self.find(*c))
            .collect();
        let mut looks: BTreeMap<ClassId, Vec<String>> = BTreeMap::new();
        let mut indices: BTreeSet<ClassId> = BTreeSet::new();
        for (key, class) in self.keys() {
            match key {
                Key::Dim(..) | Key::Label(_) => {
                    indices.insert(class);
                }
                Key::Cell((var, _)) | Key::Array(var, _) => {
                    let variable = self.setting.variable(*var);
                    let local = matches!(var, Var::Local(..));
                    looks.entry(class).or_default().push(format!("{:?} {local}", variable.ty));
                }
            }
        }
        for (index, channel) in self.setting.channels.iter().enumerate() {
            let kind = &self.setting.program.channel_types[channel.kind.0 as usize];
            let union = self.unions.as_ref().and_then(|u| u.of_channel(index));
            for field in 0..kind.fields.len() {
                let tags: Vec<Option<i32>> = match union.filter(|u| u.fields.contains(&field)) {
                    Some(union) => union.values.iter().copied().map(Some).collect(),
                    None => vec![None],
                };
                for tag in tags {
                    if let Some(class) = self.field(self.channel[index], field, tag) {
                        let look = format!("field {field} {tag:?} {}", kind.capacity);
                        looks.entry(class).or_default().push(look);
                    }
                }
            }
        }
        let mut alike: BTreeMap<Vec<String>, Vec<ClassId>> = BTreeMap::new();
        for (class, mut look) in looks {
            let free = self.is_names(class) && !self.holds_channels(class) && !self.get(class).open;
            if free && !computed.contains(&class) && !indices.contains(&class) {
                look.sort_unstable();
                alike.entry(look).or_default().push(class);
            }
        }
        let mut padded = false;
        for classes in alike.values() {
            let most = classes.iter().map(|c| self.get(*c).values.len()).max().unwrap_or(0);
            for class in classes {
                let (low, high) = self.range(*class);
                for _ in self.get(*class).values.len().max(most.saturating_sub(MOST))..most {
                    let unused = (low.max(0)..=high.min(255)).find(|v| !self.get(*class).values.contains(v));
                    if let Some(value) = unused {
                        self.add_value(*class, value);
                        padded = true;
                    }
                }
            }
        }
        padded
    }
}
