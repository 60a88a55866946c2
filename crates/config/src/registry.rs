//! Objects of one kind: by number in the order of their creation, and by name.
//!
//! A number is never given twice, so that what is known under it elsewhere (a core, a log) is never
//! mistaken for something newer.

use std::collections::{BTreeMap, HashMap};

/// All objects of a kind.
#[derive(Clone, Debug)]
pub(crate) struct Registry<T> {
    items: BTreeMap<u32, T>,
    /// Only ever looked up, never walked: its order is not stable.
    numbers: HashMap<String, u32>,
    next: u32,
}

impl<T> Registry<T> {
    /// Returns the number the next object gets; `None` when all have been given.
    pub(crate) fn next(&self) -> Option<u32> {
        (self.next < u32::MAX).then_some(self.next)
    }

    /// Returns the object with this exact name.
    pub(crate) fn named(&self, name: &str) -> Option<&T> {
        self.numbers.get(name).and_then(|number| self.get(*number))
    }

    /// Returns the object with this number.
    pub(crate) fn get(&self, number: u32) -> Option<&T> {
        self.items.get(&number)
    }

    /// Returns the object with this number, to change it in place.
    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.items.get_mut(&number)
    }

    /// Walks all objects in the order of their creation.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.values()
    }

    /// Returns how many objects there are.
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// Adds an object, or replaces the one with its number, and returns that; if that had another name,
    /// [`Registry::forget`] it.
    pub(crate) fn put(&mut self, number: u32, name: &str, item: T) -> Option<T> {
        let old = self.items.insert(number, item);
        if self.numbers.get(name) != Some(&number) {
            self.numbers.insert(name.to_owned(), number);
        }
        self.next = self.next.max(number + 1);
        old
    }

    /// Forgets a name that an object had before, unless it is its name still.
    pub(crate) fn forget(&mut self, number: u32, old: &str, name: &str) {
        if old != name && self.numbers.get(old) == Some(&number) {
            self.numbers.remove(old);
        }
    }

    /// Removes an object.
    pub(crate) fn remove(&mut self, number: u32, name: &str) -> Option<T> {
        self.numbers.remove(name);
        self.items.remove(&number)
    }
}

impl<T> Default for Registry<T> {
    fn default() -> Self {
        Self {
            items: BTreeMap::new(),
            numbers: HashMap::new(),
            next: 1,
        }
    }
}
