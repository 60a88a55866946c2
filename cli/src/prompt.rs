//! What stands before the cursor: `set|clear|show cli prompt`.

use jiff::Zoned;

use crate::escape::escape;
use crate::user;

/// The prompt of a session, without its `> `.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prompt {
    /// As it was typed; empty is the default.
    template: String,
}

/// What the codes of a prompt stand for.
pub(crate) struct Facts {
    /// `%!`
    pub(crate) number: usize,
    /// `%u`
    pub(crate) user: String,
    /// `%h`
    pub(crate) host: String,
    /// `%t`, `%T` and `%d`
    pub(crate) now: Zoned,
}

impl Facts {
    /// Asks the system.
    pub(crate) fn of_now(number: usize) -> Self {
        Self {
            number,
            user: user::name(),
            host: user::host(),
            now: Zoned::now(),
        }
    }
}

impl Prompt {
    /// Changes it.
    pub(crate) fn set(&mut self, template: &str) {
        template.clone_into(&mut self.template);
    }

    /// Makes it the default again.
    pub(crate) fn clear(&mut self) {
        self.template.clear();
    }

    /// Returns what `show cli prompt` prints.
    pub(crate) fn text(&self) -> String {
        format!("\tCLI prompt is set to \"{}\"\n", escape(&self.template))
    }

    /// Returns what is shown, `> ` included; `facts` are asked for if there are codes.
    /// Shape: a code that is none stays as it is; `%%` is a percent sign; nothing can drive the
    /// terminal.
    pub(crate) fn shown(&self, facts: impl FnOnce() -> Facts) -> String {
        if !self.template.contains('%') {
            return format!("{}> ", escape(&self.template));
        }
        let facts = facts();
        let mut out = String::new();
        let mut signs = self.template.chars();
        while let Some(sign) = signs.next() {
            if sign != '%' {
                out.push(sign);
                continue;
            }
            match signs.next() {
                Some('!') => out.push_str(&facts.number.to_string()),
                Some('u') => out.push_str(&facts.user),
                Some('h') => out.push_str(&facts.host),
                Some('t') => out.push_str(&facts.now.strftime("%I:%M %p").to_string()),
                Some('T') => out.push_str(&facts.now.strftime("%H:%M").to_string()),
                Some('d') => out.push_str(&facts.now.strftime("%m/%d/%Y").to_string()),
                Some('s') => out.push_str(NODE_STATE),
                Some('%') => out.push('%'),
                Some(other) => out.extend(['%', other]),
                None => out.push('%'),
            }
        }
        format!("{}> ", escape(&out))
    }
}

/// There are no pairs of nodes, and one that is alone is the one that serves.
const NODE_STATE: &str = "Primary";

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(template: &str) -> String {
        let mut prompt = Prompt::default();
        prompt.set(template);
        prompt.shown(|| Facts {
            number: 7,
            user: "ann".to_owned(),
            host: "lb1\x1b".to_owned(),
            now: "2026-03-04T15:06:00[UTC]".parse().unwrap(),
        })
    }

    #[test]
    fn codes_are_filled_in_and_the_rest_stays() {
        assert_eq!(shown(""), "> ");
        assert_eq!(shown("%u@%h %!"), "ann@lb1\\x1b 7> ");
        assert_eq!(shown("%t %T %d %s"), "03:06 PM 15:06 03/04/2026 Primary> ");
        assert_eq!(shown("100%% %x %"), "100% %x %> ");
    }
}
