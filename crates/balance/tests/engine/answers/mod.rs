//! Claims about response times and about the guards against services that fail or swallow traffic.

mod differential;
mod done;
mod failures;
mod load;
mod response_time;
mod silence;
mod traffic;
