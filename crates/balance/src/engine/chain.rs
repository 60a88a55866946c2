//! Who serves a flow: the virtual server that the client dialled, or one of its backups.
//!
//! Owns nothing. A walk along the chain ends after as many steps as there are virtual servers, even
//! if the plan were broken and the chain a circle.

use super::Engine;
use crate::persistence::{Held, TableKey};
use crate::vserver::{Chosen, Denial, Question, Vserver};
use crate::{Diversion, Refusal, State, VserverId};

/// Who takes a flow.
#[derive(Debug)]
pub(super) struct Served {
    /// The virtual server that serves it.
    pub(super) by: VserverId,
    pub(super) chosen: Chosen,
    /// The table of that virtual server, and what the client has there.
    pub(super) table: Option<TableKey>,
    pub(super) held: Option<Held>,
    /// Why the virtual server that was dialled does not serve it.
    pub(super) diversion: Option<Diversion>,
}

impl Engine {
    /// Finds who takes a flow for `dialled`; counts nothing but the choice itself.
    ///
    /// # Errors
    /// Why `dialled` cannot take it, if no backup can either.
    pub(super) fn serve(
        &mut self,
        dialled: VserverId,
        question: &Question<'_>,
    ) -> Result<Served, Refusal> {
        let denial = match self.choose(dialled, question).ok_or(Refusal::NoVserver)? {
            Ok(served) => return Ok(served),
            Err(denial) => denial,
        };
        let Some(diversion) = denial.diversion() else {
            return Err(denial.refusal());
        };
        let mut next = self.backup_of(dialled);
        for _ in 1..self.vservers.len() {
            let Some(id) = next else {
                break;
            };
            match self.choose(id, question) {
                Some(Ok(served)) => {
                    let diversion = Some(diversion);
                    return Ok(Served {
                        diversion,
                        ..served
                    });
                }
                Some(Err(denial)) if denial.diversion().is_none() => break,
                Some(Err(_)) => next = self.backup_of(id),
                None => break,
            }
        }
        Err(denial.refusal())
    }

    /// Returns the state that clients of a virtual server see: UP while it or a backup of it is UP,
    /// else its own.
    pub(super) fn effective_state(&self, id: VserverId, vserver: &Vserver) -> State {
        let mut next = Some((id, vserver));
        for _ in 0..self.vservers.len() {
            let Some((id, one)) = next else {
                break;
            };
            if one.state == State::Up {
                return State::Up;
            }
            next = self
                .backup_of(id)
                .and_then(|id| Some((id, self.vservers.get(&id)?)));
        }
        vserver.state
    }

    fn backup_of(&self, id: VserverId) -> Option<VserverId> {
        self.vservers.get(&id)?.settings.backup.vserver
    }

    /// Lets one virtual server choose; none if it does not exist.
    fn choose(&mut self, id: VserverId, question: &Question<'_>) -> Option<Result<Served, Denial>> {
        let vserver = self.vservers.get_mut(&id)?;
        let table = vserver.table(id);
        let held = table.and_then(|table| {
            let tables = &self.persistence;
            tables.find(table, question.flow, question.now)
        });
        let chosen = vserver.choose(
            &self.services,
            question,
            held,
            &mut self.dice,
            &mut self.scratch,
        );
        Some(chosen.map(|chosen| Served {
            by: id,
            chosen,
            table,
            held,
            diversion: None,
        }))
    }
}
