//! The connected clients: how many there may be, and who goes when another one comes.
//!
//! Shells stay connected for days, so a plain cap would let forgotten ones lock everybody out. When the
//! table is full the client that has waited longest for its own next request is ended.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::time::Instant;

/// The table. Copies share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clients {
    /// Guards the whole table; held over plain calls only.
    entries: Arc<Mutex<Entries>>,
}

#[derive(Debug, Default)]
struct Entries {
    next: u64,
    clients: BTreeMap<u64, Entry>,
}

#[derive(Debug)]
struct Entry {
    /// Since when the client owes us something: a request, or the reading of an answer. `None` while
    /// we owe the client.
    waiting_since: Option<Instant>,
    end: Arc<Notify>,
}

impl Clients {
    /// Admits a client, ending another one if the table is full.
    ///
    /// Returns `None` when it is full and all its clients wait for answers.
    pub(crate) fn admit(&self) -> Option<Client> {
        let mut entries = self.lock();
        if entries.clients.len() >= CLIENTS_MAX {
            let waiting = |entry: &Entry| entry.waiting_since;
            let (_, id) = entries
                .clients
                .iter()
                .filter_map(|(id, entry)| waiting(entry).map(|since| (since, *id)))
                .min()?;
            let ended = entries.clients.remove(&id);
            ended
                .expect("found in the table under the same lock")
                .end
                .notify_one();
        }
        let id = entries.next;
        entries.next += 1;
        let end = Arc::new(Notify::new());
        let entry = Entry {
            waiting_since: Some(Instant::now()),
            end: Arc::clone(&end),
        };
        entries.clients.insert(id, entry);
        drop(entries);
        Some(Client {
            id,
            end,
            clients: self.clone(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        // Every change of the table is one plain call, so it is whole whoever panicked.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A client's place in the table, given back when dropped.
#[derive(Debug)]
pub(crate) struct Client {
    id: u64,
    end: Arc<Notify>,
    clients: Clients,
}

impl Client {
    /// Notes that the client waits for us and must not be ended.
    pub(crate) fn is_answered(&self) {
        self.set(None);
    }

    /// Notes that it is the client's turn.
    pub(crate) fn is_waited_for(&self) {
        self.set(Some(Instant::now()));
    }

    /// Waits until the place is needed for somebody else.
    pub(crate) async fn ended(&self) {
        self.end.notified().await;
    }

    fn set(&self, waiting_since: Option<Instant>) {
        if let Some(entry) = self.clients.lock().clients.get_mut(&self.id) {
            entry.waiting_since = waiting_since;
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.clients.lock().clients.remove(&self.id);
    }
}

/// Far more than people and scripts at one machine need; bounds memory to 64 frames and answers.
pub(crate) const CLIENTS_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Admits as many as fit, a second apart.
    async fn full() -> (Clients, Vec<Client>) {
        let clients = Clients::default();
        let mut held = Vec::new();
        for _ in 0..CLIENTS_MAX {
            held.push(clients.admit().unwrap());
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        (clients, held)
    }

    fn is_ended(client: &Client) -> bool {
        !client.clients.lock().clients.contains_key(&client.id)
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_table_ends_the_client_that_waited_longest() {
        let (clients, held) = full().await;
        held[0].is_waited_for();
        held[1].is_answered();
        let _newcomer = clients.admit().unwrap();
        let ended: Vec<_> = (0..CLIENTS_MAX).filter(|&i| is_ended(&held[i])).collect();
        assert_eq!(ended, [2]);
        held[2].ended().await;
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_is_ended_while_all_wait_for_answers() {
        let (clients, held) = full().await;
        held.iter().for_each(Client::is_answered);
        assert!(clients.admit().is_none());
        held[5].is_waited_for();
        assert!(clients.admit().is_some());
        assert!(is_ended(&held[5]));
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_left_makes_room() {
        let (clients, mut held) = full().await;
        held.pop();
        let _newcomer = clients.admit().unwrap();
        assert!(!held.iter().any(is_ended));
    }
}
