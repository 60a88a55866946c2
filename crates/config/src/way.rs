//! The way from one configuration to another: the commands that lead there, and what differs.
//!
//! It looks at the two as the commands that make them ([`Config::commands`]), so that a new kind of object
//! needs nothing here. An object that both have keeps its number, and so the flows it carries, unless what
//! differs cannot be changed in place.

use std::collections::HashMap;

use sluice_command::table::{ArgSpec, CommandSpec};
use sluice_command::{Arg, Command, ConfigNoun, Key, Noun, Value, Verb, render, spec};

use crate::{Config, Plan};

/// How to get from one configuration to another.
#[derive(Clone, Debug)]
pub struct Way {
    /// The commands, in an order in which none is refused.
    pub commands: Vec<Command>,
    /// What they do together.
    pub plan: Plan,
    /// Whether they lead all the way; always, as far as is known.
    pub arrives: bool,
}

/// A command that one of two configurations has and the other has not, or not like this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The first has it.
    First(String),
    /// The second has it.
    Second(String),
}

impl Config {
    /// Works out the commands that make `to` of this configuration.
    /// Shape: the objects, options and bindings are then those of `to`; their order is where nothing had
    /// to be made anew.
    pub fn way_to(&self, to: &Self) -> Way {
        let mut walk = Walk::from(self);
        let want = Lines::of(to.commands());
        let mut have = Lines::of(self.commands());
        // Each round either gets nearer or takes away one object that is in the way.
        for _ in 0..=2 * (want.commands.len() + have.commands.len()) {
            if have.map == want.map {
                return walk.end(true);
            }
            let before = (walk.commands.len(), walk.plan.clone());
            walk.round(&have, &want);
            let now = Lines::of(walk.config.commands());
            if now.map != have.map {
                have = now;
                continue;
            }
            walk.commands.truncate(before.0);
            walk.plan = before.1;
            let differs = |line: &&Command| want.get(&Id::of(line)) != Some(line);
            match have.commands.iter().find(differs) {
                Some(line) => walk.take_away(&have, line),
                None => break,
            }
            have = Lines::of(walk.config.commands());
        }
        walk.end(false)
    }

    /// Returns what `other` has and this configuration has not, and the other way round; an object that
    /// differs is there twice, one line after the other. Nothing means that they are the same but for the
    /// order of their lines.
    pub fn differences(&self, other: &Self) -> Vec<Difference> {
        let (ours, theirs) = (self.commands(), other.commands());
        let (ours, theirs) = (Lines::of(ours), Lines::of(theirs));
        let mut found = Vec::new();
        for command in &ours.commands {
            let their = theirs.get(&Id::of(command));
            if their != Some(command) {
                found.push(Difference::First(render(command)));
                found.extend(their.map(|their| Difference::Second(render(their))));
            }
        }
        let new = theirs
            .commands
            .iter()
            .filter(|their| ours.get(&Id::of(their)).is_none());
        found.extend(new.map(|their| Difference::Second(render(their))));
        found
    }
}

/// What a saved line is about: two lines about the same are never in one configuration.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Id {
    verb: Verb,
    noun: Noun,
    args: Vec<Arg>,
}

impl Id {
    fn of(command: &Command) -> Self {
        let mut args = positionals(command);
        if command.verb != Verb::Bind {
            args.retain(|arg| arg.key == Key::Name);
        }
        Self {
            verb: command.verb,
            noun: command.noun,
            args: args.into_iter().cloned().collect(),
        }
    }
}

/// The saved lines of a configuration.
struct Lines {
    commands: Vec<Command>,
    /// Only ever looked up.
    map: HashMap<Id, Command>,
}

impl Lines {
    /// Takes what a later line sets of an object, such as a backup further down, as if its first one did.
    fn of(saved: Vec<Command>) -> Self {
        let mut commands: Vec<Command> = Vec::with_capacity(saved.len());
        // Where the line of a virtual server, and the like, is among them.
        let mut places: HashMap<(Noun, Option<Value>), usize> = HashMap::new();
        for line in saved {
            let object = (line.noun, line.value(Key::Name).cloned());
            let is_later = line.verb == Verb::Set && object.1.is_some();
            match places.get(&object).filter(|_| is_later) {
                Some(place) => {
                    let first: &mut Command = &mut commands[*place];
                    first.args.extend(line.args.into_iter().skip(1));
                    sort_options(first);
                }
                None => {
                    if line.verb == Verb::Add {
                        places.insert(object, commands.len());
                    }
                    commands.push(line);
                }
            }
        }
        let map = commands
            .iter()
            .map(|command| (Id::of(command), command.clone()));
        Self {
            map: map.collect(),
            commands,
        }
    }

    fn get(&self, id: &Id) -> Option<&Command> {
        self.map.get(id)
    }
}

/// A way under construction.
struct Walk {
    config: Config,
    commands: Vec<Command>,
    plan: Plan,
}

impl Walk {
    fn from(config: &Config) -> Self {
        Self {
            config: config.clone(),
            commands: Vec::new(),
            plan: Plan::default(),
        }
    }

    fn end(self, arrives: bool) -> Way {
        Way {
            commands: self.commands,
            plan: self.plan,
            arrives,
        }
    }

    /// Takes every step that is possible now.
    fn round(&mut self, have: &Lines, want: &Lines) {
        for line in have.commands.iter().rev() {
            if want.get(&Id::of(line)).is_none() {
                self.undo(line);
            }
        }
        for line in &want.commands {
            match have.get(&Id::of(line)) {
                None => self.step(line.clone()),
                Some(present) => present == line || self.change(present, line),
            };
        }
    }

    /// Runs a command, if it is not refused.
    fn step(&mut self, command: Command) -> bool {
        let Ok(plan) = self.config.plan(&command) else {
            return false;
        };
        self.config.commit(plan.clone());
        self.plan.changes.extend(plan.changes);
        self.plan.edits.extend(plan.edits);
        self.commands.push(command);
        true
    }

    /// Takes back what a saved line has made.
    fn undo(&mut self, saved: &Command) -> bool {
        if saved.verb == Verb::Set {
            let mut empty = saved.clone();
            empty.args = Id::of(saved).args;
            return self.change(saved, &empty);
        }
        let verb = if saved.verb == Verb::Bind {
            Verb::Unbind
        } else {
            Verb::Rm
        };
        let args = Id::of(saved).args;
        self.step(Command {
            verb,
            noun: saved.noun,
            args,
        })
    }

    /// Makes `after` of `before`, in place; a binding that cannot be changed is made anew.
    fn change(&mut self, before: &Command, after: &Command) -> bool {
        let is_bound = before.verb == Verb::Bind && !is_member(before);
        let is_changed = if is_bound {
            rebound(before, after).is_some_and(|set| self.step(set))
        } else {
            [Gone::Set, Gone::Unset].into_iter().any(|gone| {
                let steps = in_place(before, after, gone);
                steps.is_some_and(|steps| steps.into_iter().all(|step| self.step(step)))
            })
        };
        is_changed || before.verb == Verb::Bind && self.undo(before) && self.step(after.clone())
    }

    /// Removes an object, and first what refers to it.
    fn take_away(&mut self, have: &Lines, object: &Command) {
        for line in have.commands.iter().rev() {
            if line == object || !refers(line, object) {
                continue;
            }
            if line.noun == object.noun {
                let backup = Arg {
                    key: Key::BackupVserver,
                    values: Vec::new(),
                };
                self.step(about(Verb::Unset, line, vec![backup]));
            } else if line.verb == Verb::Add {
                self.take_away(have, line);
            } else {
                self.undo(line);
            }
        }
        self.undo(object);
    }
}

/// Tells whether a saved line names the object that another one adds, as its server or its member.
fn refers(line: &Command, object: &Command) -> bool {
    let Some(Value::Text(name)) = object.value(Key::Name).filter(|_| object.verb == Verb::Add)
    else {
        return false;
    };
    let is = |key| line.text(key) == Some(name);
    match object.noun.configured() {
        // A server that is called like an address is named by it.
        Some(ConfigNoun::Server) if line.noun == Noun::Service || is_member(line) => {
            match line.value(Key::Address) {
                Some(Value::Address(address)) => address.to_string() == *name,
                Some(_) | None => is(Key::ServerName),
            }
        }
        Some(ConfigNoun::Service | ConfigNoun::ServiceGroup) => is(Key::ServiceName),
        Some(ConfigNoun::NsTcpProfile) => is(Key::TcpProfileName),
        Some(ConfigNoun::NetProfile) => is(Key::NetProfile),
        Some(ConfigNoun::LbProfile) => is(Key::LbProfileName),
        Some(ConfigNoun::LbVserver) => is(Key::VserverName) || is(Key::BackupVserver),
        Some(ConfigNoun::Server | ConfigNoun::LbParameter | ConfigNoun::LbGroup) | None => false,
    }
}

/// Tells whether a saved line makes a member of a service group, which is changed as an object is.
fn is_member(line: &Command) -> bool {
    line.verb == Verb::Bind && line.noun == Noun::ServiceGroup
}

/// Returns the arguments of a command that stand without a keyword.
fn positionals(command: &Command) -> Vec<&Arg> {
    let option = |key| spec(command.verb, command.noun).and_then(|spec| spec.option(key));
    let args = command.args.iter();
    args.filter(|arg| option(arg.key).is_none()).collect()
}

/// How an option that the second of two lines has not gets to its default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gone {
    /// Set together with the others: options of one line can depend on each other.
    Set,
    /// Unset: a default can be what is refused beside the others.
    Unset,
}

/// Returns the commands that make one saved line of another by changing the object, if that can be.
fn in_place(before: &Command, after: &Command, gone: Gone) -> Option<Vec<Command>> {
    let row = |verb: Verb, key: Key| spec(verb, before.noun).and_then(|spec| spec.option(key));
    let mut set = moved(before, after)?;
    let mut unset = Vec::new();
    let saved = spec(before.verb, before.noun)?;
    let keys = keys(saved, before, after);
    let differs = |key| before.arg(key) != after.arg(key);
    for key in keys.into_iter().filter(|key| *key != Key::State) {
        let (old, new) = (before.arg(key), after.arg(key));
        // The threshold of a spillover is that of its method, though the number be the same.
        let is_of_other = key == Key::SoThreshold && differs(Key::SoMethod);
        if old == new && !(is_of_other && new.is_some()) {
            continue;
        }
        let default = || default(saved.option(key)?, before).filter(|_| gone == Gone::Set);
        let value = new.cloned().or_else(default);
        match value.filter(|_| row(Verb::Set, key).is_some()) {
            Some(arg) => set.push(arg),
            None if new.is_none() && row(Verb::Unset, key).is_some() => unset.push(Arg {
                key,
                values: Vec::new(),
            }),
            // It may go with another option; if it does not, the object is made anew.
            None => {}
        }
    }
    let mut steps = Vec::new();
    for (verb, options) in [(Verb::Set, set), (Verb::Unset, unset)] {
        if !options.is_empty() {
            steps.push(about(verb, before, options));
        }
    }
    if before.arg(Key::State) != after.arg(Key::State) {
        let disabled = after.text(Key::State) == Some("DISABLED");
        let verb = if disabled {
            Verb::Disable
        } else {
            Verb::Enable
        };
        spec(verb, before.noun)?;
        steps.push(about(verb, before, Vec::new()));
    }
    Some(steps)
}

/// Returns the option that gives an object its other address, if that is all that differs of what stands
/// without a keyword; `None` if more does.
fn moved(before: &Command, after: &Command) -> Option<Vec<Arg>> {
    let mut set = Vec::new();
    let (old, new) = (positionals(before), positionals(after));
    if old.len() != new.len() {
        return None;
    }
    for (old, new) in old.into_iter().zip(new).filter(|(old, new)| old != new) {
        // That of a server, of a virtual server, or the server of a service that is called like it.
        if new.key != Key::Address || !matches!(old.key, Key::Address | Key::ServerName) {
            return None;
        }
        set.push(Arg {
            key: Key::IpAddress,
            values: new.values.clone(),
        });
    }
    Some(set)
}

/// Puts the options of a saved line into the order of the table.
fn sort_options(saved: &mut Command) {
    let Some(spec) = spec(saved.verb, saved.noun) else {
        return;
    };
    let place = |arg: &Arg| spec.options().position(|row| row.key == arg.key);
    saved.args.sort_by_key(place);
}

/// Returns the options of two saved lines, each once, in the order of the table.
fn keys(saved: &'static CommandSpec, before: &Command, after: &Command) -> Vec<Key> {
    let given = |key: Key| before.arg(key).is_some() || after.arg(key).is_some();
    let rows = saved.options().map(|row| row.key);
    rows.filter(|key| given(*key)).collect()
}

fn default(row: &ArgSpec, object: &Command) -> Option<Arg> {
    let service_type = object.text(Key::ServiceType).unwrap_or_default();
    let value = row.default.value(service_type)?;
    Some(Arg {
        key: row.key,
        values: vec![value],
    })
}

/// Makes a command about the object of a saved line.
fn about(verb: Verb, saved: &Command, options: Vec<Arg>) -> Command {
    let mut args: Vec<Arg> = positionals(saved).into_iter().cloned().collect();
    args.retain(|arg| arg.key == Key::Name || is_member(saved));
    args.extend(options);
    Command {
        verb,
        noun: saved.noun,
        args,
    }
}

/// Returns the command that gives a binding another weight and order, if nothing else differs and it has
/// an order then that had one before.
fn rebound(before: &Command, after: &Command) -> Option<Command> {
    let changeable = [Key::Weight, Key::Order];
    let rest = |command: &Command| -> Vec<Arg> {
        let args = command.args.iter();
        let args = args.filter(|arg| !changeable.contains(&arg.key));
        args.cloned().collect()
    };
    if rest(before) != rest(after) {
        return None;
    }
    let saved = spec(before.verb, before.noun)?;
    let service = after.value(Key::ServiceName)?;
    let differs = |key: &Key| before.arg(*key) != after.arg(*key);
    let set = changeable.into_iter().filter(differs).map(|key| {
        let arg = after.arg(key).cloned();
        let mut arg = arg.or_else(|| default(saved.option(key)?, before))?;
        arg.values.push(service.clone());
        Some(arg)
    });
    Some(about(Verb::Set, before, set.collect::<Option<_>>()?))
}
