//! Hashing clients and services: the same on every machine, today and in later versions.
//!
//! Owns what is hashed and how. A client's choice must not move because the daemon was restarted,
//! upgraded or is one of several, so everything here is fixed for good: the bytes, their order, the
//! function (XXH3 with 64 bits) and its seeds. Known values in the tests hold it in place.
//!
//! ```text
//!   key      = xxh3(address bytes [, port or other address bytes], seed of keys)
//!   identity = xxh3(address bytes, port  |  address bytes  |  hashId, seed of services)
//!   score    = xxh3(key, the identity as seed)             one for each client and service
//! ```
//!
//! Addresses are 4 bytes or 16, ports 2, all most significant first; a `hashId` has 8. No two kinds have
//! the same length. An IPv4 address that is written as IPv6 (`::ffff:192.0.2.1`) is that IPv4 address.

mod log;
mod points;
mod prime;
mod ring;
mod settings;
mod table;

use core::net::{IpAddr, SocketAddr};

use xxhash_rust::xxh3::xxh3_64_with_seed;

pub(crate) use log::{least_minus_ln, minus_ln};
pub use settings::{Fingers, FingersError, HashAlgorithm, HashSettings};
pub(crate) use table::{Member, Table};

/// The hash of what a virtual server looks at in a flow. Equal keys go to the same service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key(u64);

impl Key {
    /// Makes the key of one address, of which the settings' mask is looked at.
    pub(crate) fn of_address(address: SocketAddr, settings: &HashSettings) -> Self {
        Self::of(Bytes::none().address(settings.mask.apply(address.ip())))
    }

    /// Makes the key of two addresses.
    pub(crate) fn of_addresses(one: SocketAddr, other: SocketAddr) -> Self {
        Self::of(Bytes::none().address(one.ip()).address(other.ip()))
    }

    /// Makes the key of an address and its port.
    pub(crate) fn of_address_and_port(address: SocketAddr) -> Self {
        Self::of(Bytes::none().address(address.ip()).port(address.port()))
    }

    /// Makes the key of a token, which is a hash already.
    pub(crate) fn of_token(hash: u64) -> Self {
        Self(hash)
    }

    /// Returns the score of a service for this key.
    pub(crate) fn score(self, identity: u64) -> u64 {
        score(self.0, identity)
    }

    fn of(bytes: &Bytes) -> Self {
        Self(xxh3_64_with_seed(bytes.as_slice(), KEY_SEED))
    }
}

/// What a service is to a hash: it keeps its clients as long as this stays the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Of address and port.
    own: u64,
    /// Of the address alone.
    address: u64,
    /// Of the `hashId`, which stands in for both.
    named: Option<u64>,
}

impl Identity {
    /// Makes the identity of a service.
    pub(crate) fn new(address: SocketAddr, hash_id: Option<u64>) -> Self {
        let hash = |bytes: &Bytes| xxh3_64_with_seed(bytes.as_slice(), SERVICE_SEED);
        let of_id = |id: u64| hash(Bytes::none().push(&id.to_be_bytes()));
        Self {
            own: hash(Bytes::none().address(address.ip()).port(address.port())),
            address: hash(Bytes::none().address(address.ip())),
            named: hash_id.map(of_id),
        }
    }

    /// Returns the hash that decides.
    pub(crate) fn deciding(self, use_port: bool) -> u64 {
        let unnamed = if use_port { self.own } else { self.address };
        self.named.unwrap_or(unnamed)
    }

    /// Returns the hash that decides between services that have the same deciding one.
    pub(crate) fn own(self) -> u64 {
        self.own
    }
}

/// Returns what a service throws for a number: 64 bits like dice, but always the same.
fn score(number: u64, identity: u64) -> u64 {
    xxh3_64_with_seed(&number.to_be_bytes(), identity)
}

/// Up to two addresses and a port, to be hashed.
struct Bytes {
    bytes: [u8; 34],
    len: usize,
}

impl Bytes {
    fn none() -> Self {
        Self {
            bytes: [0; 34],
            len: 0,
        }
    }

    fn address(&mut self, address: IpAddr) -> &mut Self {
        match address.to_canonical() {
            IpAddr::V4(address) => self.push(&address.octets()),
            IpAddr::V6(address) => self.push(&address.octets()),
        }
    }

    fn port(&mut self, port: u16) -> &mut Self {
        self.push(&port.to_be_bytes())
    }

    fn push(&mut self, bytes: &[u8]) -> &mut Self {
        let end = self.len + bytes.len();
        self.bytes[self.len..end].copy_from_slice(bytes);
        self.len = end;
        self
    }

    fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// Seeds, so that an address hashes differently as a client and as a service.
///
/// Source: own choice: "sluice 1" and "sluice 2" in ASCII. Never to be changed.
pub(crate) const KEY_SEED: u64 = u64::from_be_bytes(*b"sluice 1");
const SERVICE_SEED: u64 = u64::from_be_bytes(*b"sluice 2");

#[cfg(test)]
mod tests;
