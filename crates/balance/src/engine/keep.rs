//! Clients that keep to the virtual server of a chain by which they were served first.
//!
//! Owns nothing: entries are in `persistence`, in a table for each virtual server that spills and
//! has its clients keep. What the setting promises is with [`Spillover`](crate::Spillover).

use super::Engine;
use super::chain::Served;
use crate::persistence::{Held, StickTo, TableKey};
use crate::vserver::{Question, Thresholds};
use crate::{
    AddressMask, Diversion, Instant, Persistence, PersistenceKind, PersistenceTimeout, Refusal,
    SkipPersistence, State, VserverId,
};

/// The table to note in who serves a client, and the entry that already says so.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keeper {
    table: TableKey,
    held: Option<Held>,
}

impl Engine {
    /// Finds who takes a flow for `dialled`, whose clients keep to one of its chain.
    ///
    /// # Errors
    /// Why `dialled` cannot take it, if nobody can; or that the client is refused by persistence.
    #[cold]
    pub(super) fn serve_keeping(
        &mut self,
        dialled: VserverId,
        table: TableKey,
        question: &Question<'_>,
    ) -> Result<Served, Refusal> {
        let (held, kept) = self.kept(dialled, table, question);
        if let Some(id) = kept {
            let ignoring = Question {
                thresholds: Thresholds::Ignore,
                ..*question
            };
            match self.choose(id, &ignoring) {
                Some(Ok(served)) => {
                    return Ok(Served {
                        diversion: self.diversion_of_kept(dialled, id),
                        keeper: Some(Keeper { table, held }),
                        ..served
                    });
                }
                Some(Err(denial)) if denial.diversion().is_none() => return Err(denial.refusal()),
                Some(Err(_)) | None => {}
            }
        }
        let served = self.serve_anew(dialled, question)?;
        // Who is DOWN has not spilled: its clients come back with it.
        let is_noted = served.diversion != Some(Diversion::Down);
        let held = held.filter(|held| held.to == StickTo::Vserver(served.by));
        let keeper = is_noted.then_some(Keeper { table, held });
        Ok(Served { keeper, ..served })
    }

    /// Returns the entry of a client, and the one of the chain of `dialled` that it keeps to.
    pub(super) fn kept(
        &self,
        dialled: VserverId,
        table: TableKey,
        question: &Question<'_>,
    ) -> (Option<Held>, Option<VserverId>) {
        let held = self.persistence.find(table, question.flow, question.now);
        let kept = held.and_then(|held| match held.to {
            StickTo::Vserver(id) if self.chain(dialled).any(|(one, _)| one == id) => Some(id),
            StickTo::Vserver(_) | StickTo::Service(_) => None,
        });
        (held, kept)
    }

    /// Notes who serves the client of a flow.
    #[cold]
    pub(super) fn note_keeper(&mut self, keeper: Keeper, by: VserverId, question: &Question<'_>) {
        let Keeper { table, held } = keeper;
        match held {
            Some(held) => self.persistence.renew(held, by, question.now),
            None => {
                let to = (StickTo::Vserver(by), 0);
                self.stick(table, question.flow, to, by, question.now);
            }
        }
    }

    /// Takes the keeping of a virtual server into effect, whose table was `former` before.
    pub(super) fn set_keeping(&mut self, id: VserverId, former: Option<TableKey>, now: Instant) {
        let spillover = self.vservers[&id].settings.backup.spillover;
        match spillover.and_then(|spillover| spillover.persistence) {
            Some(timeout) => {
                let settings = by_address(timeout);
                self.persistence
                    .join(TableKey::Spillover(id), id, &settings, now);
            }
            None => {
                if let Some(former) = former {
                    self.persistence.leave(id, former);
                }
            }
        }
    }

    fn diversion_of_kept(&self, dialled: VserverId, by: VserverId) -> Option<Diversion> {
        let is_up = self.vservers.get(&dialled)?.state == State::Up;
        let diversion = if is_up {
            Diversion::Spillover
        } else {
            Diversion::Down
        };
        (by != dialled).then_some(diversion)
    }
}

fn by_address(timeout: PersistenceTimeout) -> Persistence {
    Persistence {
        kind: PersistenceKind::SourceIp,
        mask: AddressMask::ALL,
        timeout,
        skip: SkipPersistence::None,
        trofs: true,
        group: None,
    }
}
