//! Where the entries lie: a table of places that never move, and an index by hash.
//!
//! Owns the memory. Knows neither time nor tables: who is found, how entries are linked in the order
//! of their use, and when one goes is the caller's.
//!
//! Nothing here ever copies or visits all entries at once, so that no flow waits for it. Places come
//! in chunks; the index grows by one bucket per entry (linear hashing), each time taking apart the
//! one bucket whose entries the new one shares:
//!
//! ```text
//!   buckets  0 1 2 3 | 4 5      a hash counts modulo 8; a bucket that does not exist yet (6, 7)
//!            ^low = 4   ^6 next  is looked for modulo 4, and the next to be taken apart is 6 - 4 = 2
//! ```
//!
//! Memory: 64 bytes a place and 4 a bucket, of which there are never more than places (the vector
//! that holds them may have room for twice as many). What was used once is kept for the next time.
//! The order of places follows from the sequence of calls alone, not from the hash.

use std::num::NonZeroU32;

use super::key::Key;
use super::lane::LaneId;
use crate::{Instant, VserverId};

/// The hash of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hash(pub(super) u32);

/// The place of an entry, from 1 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryId(NonZeroU32);

/// One client and when it last came. Which service it sticks to is a matter of its lane.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) key: Key,
    pub(super) used: Instant,
    /// The virtual server that used it last.
    pub(super) vserver: VserverId,
    /// None while the place is free.
    pub(super) lane: Option<LaneId>,
    /// Its neighbours in the lane.
    pub(super) older: Option<EntryId>,
    pub(super) newer: Option<EntryId>,
    hash: Hash,
    /// The next one in the bucket, or the next free place.
    next: Option<EntryId>,
}

/// All entries of all tables.
#[derive(Debug)]
pub(super) struct Store {
    chunks: Vec<Vec<Entry>>,
    /// Places ever made.
    made: u32,
    free: Option<EntryId>,
    len: u32,
    buckets: Vec<Option<EntryId>>,
}

impl Entry {
    /// Makes an entry that is in no list yet.
    pub(super) fn new(key: Key, vserver: VserverId, used: Instant) -> Self {
        Self {
            key,
            used,
            vserver,
            lane: None,
            older: None,
            newer: None,
            hash: Hash(0),
            next: None,
        }
    }
}

impl Store {
    pub(super) fn new() -> Self {
        Self {
            chunks: Vec::new(),
            made: 0,
            free: None,
            len: 0,
            buckets: vec![None],
        }
    }

    /// Returns the number of entries.
    pub(super) fn len(&self) -> u32 {
        self.len
    }

    /// Returns the entry in a place that was ever used.
    pub(super) fn at(&self, id: EntryId) -> &Entry {
        let (chunk, place) = id.place();
        &self.chunks[chunk][place]
    }

    /// Returns the entry in a place that was ever used, to change it.
    pub(super) fn at_mut(&mut self, id: EntryId) -> &mut Entry {
        let (chunk, place) = id.place();
        &mut self.chunks[chunk][place]
    }

    /// Returns the entry with this key that `is_wanted`.
    pub(super) fn find(
        &self,
        hash: Hash,
        key: &Key,
        is_wanted: impl Fn(&Entry) -> bool,
    ) -> Option<EntryId> {
        let mut next = self.buckets[self.bucket(hash)];
        while let Some(id) = next {
            let entry = self.at(id);
            if entry.hash == hash && entry.key == *key && is_wanted(entry) {
                return Some(id);
            }
            next = entry.next;
        }
        None
    }

    /// Adds an entry in the free place that was given up last, or else in a new one.
    ///
    /// # Panics
    /// With 2^32 - 1 entries, which is more than any limit.
    pub(super) fn add(&mut self, hash: Hash, entry: Entry) -> EntryId {
        if self.len as usize >= self.buckets.len() {
            self.add_bucket();
        }
        let bucket = self.bucket(hash);
        let next = self.buckets[bucket];
        let entry = Entry {
            hash,
            next,
            ..entry
        };
        let id = self.place(entry);
        self.buckets[bucket] = Some(id);
        self.len += 1;
        id
    }

    /// Takes an entry out of the index and frees its place. It is in no lane any more.
    pub(super) fn remove(&mut self, id: EntryId) {
        let entry = self.at(id);
        let (bucket, next) = (self.bucket(entry.hash), entry.next);
        if self.buckets[bucket] == Some(id) {
            self.buckets[bucket] = next;
        } else {
            let mut before = self.buckets[bucket].expect(INDEXED);
            while self.at(before).next != Some(id) {
                before = self.at(before).next.expect(INDEXED);
            }
            self.at_mut(before).next = next;
        }
        self.at_mut(id).next = self.free;
        self.free = Some(id);
        self.len -= 1;
    }

    /// Goes over the places from number `first` on, free ones too.
    pub(super) fn places(&self, first: u32) -> impl Iterator<Item = &Entry> {
        let ids = (first..self.made).map(|number| EntryId::from_number(number).expect(COUNTED));
        ids.map(|id| self.at(id))
    }

    /// Returns how many bytes it has taken.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        let entries: usize = self.chunks.iter().map(Vec::capacity).sum();
        entries * size_of::<Entry>()
            + self.buckets.capacity() * size_of::<Option<EntryId>>()
            + self.chunks.capacity() * size_of::<Vec<Entry>>()
    }

    fn place(&mut self, entry: Entry) -> EntryId {
        if let Some(id) = self.free {
            self.free = self.at(id).next;
            *self.at_mut(id) = entry;
            return id;
        }
        let id = EntryId::from_number(self.made).expect("a limit is below 2^32 - 1");
        let (chunk, _) = id.place();
        if chunk == self.chunks.len() {
            self.chunks.push(Vec::with_capacity(CHUNK));
        }
        self.chunks[chunk].push(entry);
        self.made += 1;
        id
    }

    /// Returns the bucket of a hash.
    fn bucket(&self, hash: Hash) -> usize {
        let hash = hash.0 as usize;
        let low = self.low();
        let bucket = hash % (2 * low);
        if bucket < self.buckets.len() {
            bucket
        } else {
            hash % low
        }
    }

    /// Returns the largest power of two that is not above the number of buckets.
    fn low(&self) -> usize {
        1 << self.buckets.len().ilog2()
    }

    /// Adds a bucket and moves into it what now belongs there.
    fn add_bucket(&mut self) {
        let sibling = self.buckets.len() - self.low();
        let mut next = self.buckets[sibling].take();
        self.buckets.push(None);
        while let Some(id) = next {
            next = self.at(id).next;
            let bucket = self.bucket(self.at(id).hash);
            self.at_mut(id).next = self.buckets[bucket];
            self.buckets[bucket] = Some(id);
        }
    }
}

impl EntryId {
    /// Returns the id of the place with a number, from 0 on.
    fn from_number(number: u32) -> Option<Self> {
        number.checked_add(1).and_then(NonZeroU32::new).map(Self)
    }

    /// Returns the chunk and the place in it.
    fn place(self) -> (usize, usize) {
        let number = self.0.get() as usize - 1;
        (number / CHUNK, number % CHUNK)
    }
}

/// Places that are made at a time: 64 KiB, which an allocator has at hand.
const CHUNK: usize = 1024;

const INDEXED: &str = "an entry is in its bucket until it is removed";

const COUNTED: &str = "a place that was made has an id";

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;
    use crate::persistence::Persistence;
    use crate::{FlowKey, persistence::tests::settings};

    fn key(number: u32) -> Key {
        let address = |ip: Ipv4Addr| std::net::SocketAddr::from((ip, 1));
        let flow = FlowKey {
            src: address(Ipv4Addr::from(number)),
            dst: address(Ipv4Addr::LOCALHOST),
            token: None,
        };
        let by_source: Persistence = settings();
        Key::of_flow(&flow, &by_source)
    }

    fn entry(number: u32) -> Entry {
        Entry::new(key(number), VserverId(number), Instant::default())
    }

    #[test]
    fn entry_takes_64_bytes() {
        assert_eq!(size_of::<Entry>(), 64);
    }

    #[test]
    fn every_entry_is_found_at_each_number_of_buckets_and_after_others_went() {
        // Hashes that collide a lot, in the low bits and altogether.
        let hash = |number: u32| Hash(number / 3 * 4);
        let mut store = Store::new();
        let mut ids = Vec::new();
        for number in 0..500 {
            ids.push(store.add(hash(number), entry(number)));
            for (known, id) in (0..).zip(&ids) {
                assert_eq!(store.find(hash(known), &key(known), |_| true), Some(*id));
            }
            let missing = number + 1;
            assert_eq!(store.find(hash(missing), &key(missing), |_| true), None);
        }
        for number in (0..500).step_by(2) {
            store.remove(ids[number as usize]);
        }
        for (number, id) in (0..).zip(&ids) {
            let expected = (number % 2 == 1).then_some(*id);
            assert_eq!(store.find(hash(number), &key(number), |_| true), expected);
        }
        assert_eq!(store.len(), 250);
    }

    #[test]
    fn free_places_are_used_again_before_new_ones_are_made() {
        let mut store = Store::new();
        let ids: Vec<_> = (0..3000).map(|n| store.add(Hash(n), entry(n))).collect();
        let before = store.bytes();
        for id in &ids[10..20] {
            store.remove(*id);
        }
        let again: Vec<_> = (10..20).map(|n| store.add(Hash(n), entry(n))).collect();
        let freed: Vec<_> = ids[10..20].iter().rev().copied().collect();
        assert_eq!((again, store.bytes()), (freed, before));
    }

    #[test]
    fn million_entries_take_less_than_128_mib() {
        let mut store = Store::new();
        for number in 0..1_000_000_u32 {
            store.add(Hash(number.wrapping_mul(0x9E37_79B9)), entry(number));
        }
        let places = 977 * 1024 * 64;
        let buckets = (1 << 20) * 4;
        let chunks = 1024 * 24;
        assert_eq!(store.bytes(), places + buckets + chunks);
        assert!(store.bytes() < 128 << 20);
    }
}
