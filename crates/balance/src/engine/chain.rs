//! Who serves a flow: the virtual server that the client dialled, or one of its backups.
//!
//! Owns nothing. A walk along the chain ends after as many steps as there are virtual servers, even
//! if the plan were broken and the chain a circle.

use super::Engine;
use super::keep::Keeper;
use crate::dice::Dice;
use crate::method::Candidate;
use crate::persistence::{Held, TableKey, Tables};
use crate::services::Services;
use crate::vserver::{Chosen, Denial, Question, Thresholds, Vserver};
use crate::{Diversion, Method, Refusal, SpilloverAction, State, TokenRange, VserverId};

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
    /// What to note of the virtual server that serves it, if clients keep to one.
    pub(super) keeper: Option<Keeper>,
}

impl Engine {
    /// Finds who takes a flow for `dialled`; counts nothing but the choice itself.
    ///
    /// # Errors
    /// Why `dialled` cannot take it, if no backup can either.
    #[inline]
    pub(super) fn serve(
        &mut self,
        dialled: VserverId,
        question: &Question<'_>,
    ) -> Result<Served, Refusal> {
        let found = self.vservers.get_mut(&dialled);
        let vserver = found.ok_or(Refusal::NoVserver)?;
        if let Some(table) = vserver.keeps(dialled) {
            return self.serve_keeping(dialled, table, question);
        }
        let (services, tables) = (&self.services, &self.persistence);
        let (dice, scratch) = (&mut self.dice, &mut self.scratch);
        match ask(vserver, dialled, question, services, tables, dice, scratch) {
            Ok(served) => Ok(served),
            Err(denial) => self.serve_elsewhere(dialled, denial, question),
        }
    }

    /// Finds who takes a flow of a client that keeps to nobody.
    ///
    /// # Errors
    /// Why `dialled` cannot take it, if no backup can either.
    pub(super) fn serve_anew(
        &mut self,
        dialled: VserverId,
        question: &Question<'_>,
    ) -> Result<Served, Refusal> {
        match self.choose(dialled, question).ok_or(Refusal::NoVserver)? {
            Ok(served) => Ok(served),
            Err(denial) => self.serve_elsewhere(dialled, denial, question),
        }
    }

    /// Finds who takes a flow that `dialled` cannot take because of `denial`.
    ///
    /// Who spills and is told to take what nobody else can is asked once more after all others.
    ///
    /// # Errors
    /// Why `dialled` cannot take it, if nobody can.
    #[cold]
    fn serve_elsewhere(
        &mut self,
        dialled: VserverId,
        denial: Denial,
        question: &Question<'_>,
    ) -> Result<Served, Refusal> {
        let served = self.pass_on(dialled, denial, question);
        let served = served.or_else(|| self.accept(dialled, denial, question));
        served.ok_or_else(|| denial.refusal())
    }

    /// Finds who takes a flow that nobody has room for: the first that is told to go on then.
    fn accept(
        &mut self,
        dialled: VserverId,
        denial: Denial,
        question: &Question<'_>,
    ) -> Option<Served> {
        if !self.accepts_in_the_end(dialled) {
            return None;
        }
        let question = Question {
            thresholds: Thresholds::Accept,
            ..*question
        };
        match self.choose(dialled, &question)? {
            Ok(served) => Some(served),
            Err(_) => self.pass_on(dialled, denial, &question),
        }
    }

    /// Whether a virtual server of the chain is told to take what nobody has room for.
    pub(super) fn accepts_in_the_end(&self, dialled: VserverId) -> bool {
        self.chain(dialled).any(|(_, vserver)| {
            let spillover = vserver.settings.backup.spillover;
            spillover.is_some_and(|own| own.action == SpilloverAction::Accept)
        })
    }

    /// Finds the first backup that takes a flow which `dialled` cannot take because of `denial`.
    fn pass_on(
        &mut self,
        dialled: VserverId,
        denial: Denial,
        question: &Question<'_>,
    ) -> Option<Served> {
        let diversion = Some(denial.diversion()?);
        let mut next = self.backup_of(dialled)?;
        for _ in 1..self.vservers.len() {
            match self.choose(next, question)? {
                Ok(served) => {
                    return Some(Served {
                        diversion,
                        ..served
                    });
                }
                Err(denial) => denial.diversion()?,
            };
            next = self.backup_of(next)?;
        }
        None
    }

    /// Returns where the virtual server that is to serve a new flow looks for its token; none if it
    /// does not look, or nobody is UP. Only if there is one is a flow's token worth waiting for.
    ///
    /// That one is the first of the chain that is UP; whether it spills shows when it is asked.
    pub fn token_range(&self, dialled: VserverId) -> Option<TokenRange> {
        let is_up = |(_, vserver): &(_, &Vserver)| vserver.state == State::Up;
        let (_, serving) = self.chain(dialled).find(is_up)?;
        if let Method::Token(range) = serving.settings.method {
            Some(range)
        } else {
            None
        }
    }

    /// Returns the state that clients of a virtual server see: UP while it or a backup of it is UP,
    /// else its own.
    pub(super) fn effective_state(&self, id: VserverId, vserver: &Vserver) -> State {
        let is_up = self.chain(id).any(|(_, one)| one.state == State::Up);
        if is_up { State::Up } else { vserver.state }
    }

    /// Goes over a virtual server and its backups.
    pub(super) fn chain(&self, id: VserverId) -> impl Iterator<Item = (VserverId, &Vserver)> {
        let find = |id| Some((id, self.vservers.get(&id)?));
        let next = move |one: &(VserverId, &Vserver)| find(one.1.settings.backup.vserver?);
        std::iter::successors(find(id), next).take(self.vservers.len())
    }

    fn backup_of(&self, id: VserverId) -> Option<VserverId> {
        self.vservers.get(&id)?.settings.backup.vserver
    }

    /// Lets one virtual server choose; none if it does not exist.
    pub(super) fn choose(
        &mut self,
        id: VserverId,
        question: &Question<'_>,
    ) -> Option<Result<Served, Denial>> {
        let vserver = self.vservers.get_mut(&id)?;
        let (services, tables) = (&self.services, &self.persistence);
        let (dice, scratch) = (&mut self.dice, &mut self.scratch);
        Some(ask(vserver, id, question, services, tables, dice, scratch))
    }
}

/// Lets a virtual server choose.
///
/// Part of the caller, because most flows end here and what is returned is large.
#[inline(always)]
fn ask(
    vserver: &mut Vserver,
    id: VserverId,
    question: &Question<'_>,
    services: &Services,
    tables: &Tables,
    dice: &mut Dice,
    scratch: &mut Vec<Candidate>,
) -> Result<Served, Denial> {
    let table = vserver.table(id);
    let held = table.and_then(|table| tables.find(table, question.flow, question.now));
    let chosen = vserver.choose(services, question, held, dice, scratch)?;
    Ok(Served {
        by: id,
        chosen,
        table,
        held,
        diversion: None,
        keeper: None,
    })
}
