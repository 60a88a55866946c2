//! Who would get the next flow, and why: asked, then tried.

mod cases;
mod random;
