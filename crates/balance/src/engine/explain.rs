//! Who would get the next flow, and why: asked without any effect.
//!
//! Owns nothing. The question is put to copies of the virtual servers, by the very code that chooses
//! for a flow, so that the answer cannot be another one; then the originals are put back. Only the
//! time moves on, as with everything that is shown.

use super::Engine;
use super::chain::Served;
use crate::explain::{Asked, Client, Explanation, Missing, Outcome, Verdict};
use crate::persistence::TableKey;
use crate::vserver::{Denial, Question, Thresholds};
use crate::{Instant, Refusal, VserverId};

impl Engine {
    /// Says who would get the next flow of a client that dials a virtual server, and why; none if
    /// there is no such virtual server.
    ///
    /// Changes nothing: no hit, no place, no turn, no credit, no chance, no persistence entry. What
    /// [`Engine::select`] does next, at the same moment and for the same client, is what is said here.
    pub fn explain(
        &mut self,
        dialled: VserverId,
        client: &Client,
        now: Instant,
    ) -> Option<Explanation> {
        let now = self.advance(now);
        let listen = self.vservers.get(&dialled)?.settings.listen;
        let flow = client.flow(listen);
        let unknown = client.unknown(listen);
        Some(self.on_trial(dialled, |engine| {
            for id in engine.chain_ids(dialled) {
                let vserver = engine.vservers.get_mut(&id).expect(IN_CHAIN);
                vserver.settle_ramps(&engine.services, now);
            }
            let question = engine.question(&flow, &[], now);
            engine.explain_settled(dialled, &question, unknown)
        }))
    }

    fn explain_settled(
        &mut self,
        dialled: VserverId,
        question: &Question<'_>,
        unknown: Missing,
    ) -> Explanation {
        let served = self.on_trial(dialled, |engine| engine.serve(dialled, question));
        let by = served.as_ref().ok().map(|served| served.by);
        let mut asked = self.asked(dialled, by, question);
        let outcome = self.outcome(served, &asked, unknown);
        let assumed_without = self.assumed_without(dialled, &asked, question, unknown);
        if !matches!(outcome, Outcome::Service { .. }) {
            let candidates = asked.iter_mut().flat_map(|one| &mut one.candidates);
            candidates.for_each(|candidate| candidate.is_chosen = false);
        }
        Explanation {
            asked,
            outcome,
            assumed_without,
        }
    }

    /// Returns what each virtual server says that is asked, one after the other; `by` is the one that
    /// serves the flow.
    fn asked(
        &mut self,
        dialled: VserverId,
        by: Option<VserverId>,
        question: &Question<'_>,
    ) -> Vec<Asked> {
        if let Some(table) = self.vservers[&dialled].keeps(dialled)
            && let (_, Some(kept)) = self.kept(dialled, table, question)
        {
            let one = self.ask_one(dialled, kept, Thresholds::Ignore, question);
            match one.verdict {
                Verdict::Serves => {
                    let verdict = Verdict::Keeps;
                    return vec![Asked { verdict, ..one }];
                }
                Verdict::Sticky => return vec![one],
                Verdict::Keeps
                | Verdict::Accepts
                | Verdict::OutOfService
                | Verdict::Down
                | Verdict::Spilling
                | Verdict::Full => {}
            }
        }
        let mut asked: Vec<Asked> = Vec::new();
        for id in self.chain_ids(dialled) {
            let one = self.ask_one(dialled, id, Thresholds::Hold, question);
            let is_last = one.verdict.serves() || one.verdict == Verdict::Sticky;
            asked.push(one);
            if is_last {
                break;
            }
        }
        // Who serves although it has said no accepts what nobody else takes.
        if let Some(id) = by
            && let Some(one) = asked.iter_mut().find(|one| one.vserver == id)
            && !one.verdict.serves()
        {
            *one = self.ask_one(dialled, id, Thresholds::Accept, question);
            one.verdict = Verdict::Accepts;
        }
        asked
    }

    fn ask_one(
        &mut self,
        dialled: VserverId,
        id: VserverId,
        thresholds: Thresholds,
        question: &Question<'_>,
    ) -> Asked {
        let question = &Question {
            thresholds,
            ..*question
        };
        let answer = self.on_trial(dialled, |engine| engine.choose(id, question));
        let answer = answer.expect(IN_CHAIN);
        let verdict = answer.as_ref().err().map_or(Verdict::Serves, verdict_of);
        let chosen = answer.ok().map(|served| served.chosen);
        let vserver = &self.vservers[&id];
        let held = vserver.table(id).filter(|_| reaches_services(verdict));
        let held = held.and_then(|table| self.persistence.find(table, question.flow, question.now));
        let seen = vserver.examine(&self.services, question, held, chosen.as_ref());
        Asked {
            vserver: id,
            verdict,
            ..seen
        }
    }

    fn outcome(
        &self,
        served: Result<Served, Refusal>,
        asked: &[Asked],
        unknown: Missing,
    ) -> Outcome {
        let Served {
            by: vserver,
            diversion,
            chosen,
            ..
        } = match served {
            Ok(served) => served,
            Err(refusal) => return Outcome::Refused(refusal),
        };
        let front = &self.vservers[&vserver];
        let missing = front.method_needs(unknown);
        let row = asked.iter().find(|one| one.vserver == vserver);
        let is_open = row.is_some_and(Asked::is_open);
        if is_open && row.is_some_and(Asked::is_by_chance) {
            Outcome::Chance { vserver, diversion }
        } else if is_open && !missing.is_nothing() {
            Outcome::Unknown {
                vserver,
                diversion,
                missing,
            }
        } else {
            Outcome::Service {
                vserver,
                diversion,
                service: front.bindings[chosen.position].service,
            }
        }
    }

    /// Returns what of the client could change the answer if it were known.
    fn assumed_without(
        &self,
        dialled: VserverId,
        asked: &[Asked],
        question: &Question<'_>,
        unknown: Missing,
    ) -> Missing {
        let keeps = self.vservers[&dialled].keeps(dialled);
        let mut missing = Missing {
            src: unknown.src && keeps.is_some_and(|table| self.has_entries(table)),
            ..Missing::default()
        };
        // Who keeps to one that has no room for it by the method might stick to a service there.
        if let Some(table) = keeps
            && let (_, Some(kept)) = self.kept(dialled, table, question)
        {
            missing = missing.and(self.entry_needs(kept, unknown));
        }
        // Who lingers takes those alone that stick to one of its services.
        let lingers = |one: &&Asked| self.vservers[&one.vserver].lingers;
        for one in asked.iter().filter(lingers) {
            missing = missing.and(self.entry_needs(one.vserver, unknown));
        }
        // Where nobody takes the flow as it is, who spills is asked for its services in the end.
        let is_taken = |one: &Asked| matches!(one.verdict, Verdict::Serves | Verdict::Sticky);
        let asks_again = self.accepts_in_the_end(dialled) && !asked.iter().any(is_taken);
        let is_asked = |one: &&Asked| {
            reaches_services(one.verdict) || asks_again && one.verdict == Verdict::Spilling
        };
        for one in asked.iter().filter(is_asked) {
            missing = missing.and(self.entry_needs(one.vserver, unknown));
            let vserver = &self.vservers[&one.vserver];
            missing.token |= one.is_open() && vserver.looks_at_token();
        }
        missing
    }

    /// Returns what tells whether a client has an entry of a virtual server where some have.
    fn entry_needs(&self, id: VserverId, unknown: Missing) -> Missing {
        let vserver = &self.vservers[&id];
        match vserver.table(id) {
            Some(table) if self.has_entries(table) => vserver.entry_needs(unknown),
            Some(_) | None => Missing::default(),
        }
    }

    fn has_entries(&self, table: TableKey) -> bool {
        self.persistence.status(table).entries > 0
    }

    /// Puts something to the engine that leaves no trace in the virtual servers of a chain, nor in
    /// what is thrown.
    fn on_trial<T>(&mut self, dialled: VserverId, ask: impl FnOnce(&mut Self) -> T) -> T {
        let originals: Vec<_> = self
            .chain(dialled)
            .map(|(id, vserver)| (id, vserver.clone()))
            .collect();
        let dice = self.dice.clone();
        let answer = ask(self);
        self.dice = dice;
        self.vservers.extend(originals);
        answer
    }

    fn chain_ids(&self, dialled: VserverId) -> Vec<VserverId> {
        self.chain(dialled).map(|(id, _)| id).collect()
    }
}

fn verdict_of(denial: &Denial) -> Verdict {
    match denial {
        Denial::OutOfService => Verdict::OutOfService,
        Denial::Down => Verdict::Down,
        Denial::Spilling => Verdict::Spilling,
        Denial::Full => Verdict::Full,
        Denial::Sticky => Verdict::Sticky,
    }
}

/// Whether a virtual server that says this has looked at its services.
fn reaches_services(verdict: Verdict) -> bool {
    match verdict {
        Verdict::OutOfService | Verdict::Down | Verdict::Spilling => false,
        Verdict::Serves | Verdict::Keeps | Verdict::Accepts | Verdict::Full | Verdict::Sticky => {
            true
        }
    }
}

const IN_CHAIN: &str = "a chain is made of virtual servers that exist";
