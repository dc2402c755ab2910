//! Numbers as bytes, for records.

/// Writes a record.
#[derive(Debug, Default)]
pub(crate) struct Writer(pub(crate) Vec<u8>);

impl Writer {
    pub(crate) fn of(kind: u8) -> Writer {
        Writer(vec![kind])
    }

    pub(crate) fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    /// Numbers without their count.
    pub(crate) fn raw(&mut self, numbers: &[u64]) {
        let start = self.0.len();
        self.0.resize(start + 8 * numbers.len(), 0);
        for (to, number) in self.0[start..].as_chunks_mut().0.iter_mut().zip(numbers) {
            *to = number.to_le_bytes();
        }
    }

    /// Numbers after their count.
    pub(crate) fn numbers(&mut self, numbers: impl ExactSizeIterator<Item = u64>) {
        self.number(numbers.len() as u64);
        self.0.reserve(numbers.len() * 8);
        numbers.for_each(|number| self.number(number));
    }

    /// Bytes after their count.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }
}

/// Reads a record; `None` where it is too short.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    pub(crate) fn numbers(&mut self) -> Option<impl ExactSizeIterator<Item = u64> + use<'a>> {
        let count = usize::try_from(self.number()?).ok()?;
        let (numbers, rest) = self.0.split_at_checked(count.checked_mul(8)?)?;
        self.0 = rest;
        Some(numbers.as_chunks().0.iter().map(|number| u64::from_le_bytes(*number)))
    }

    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let count = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    /// Nothing is left.
    pub(crate) fn end(&self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}
