//! JARH: a ring with each service's points, and a jump table into it.
//!
//! A client's key is a place on the ring; the first point at or after it whose service can take the
//! client decides. The jump table has a bucket for every few points, so that finding the place takes
//! the same time in a large ring as in a small one.
//!
//! Source: own choice: NetScaler names "Jump table Assisted Ring Hash" but does not tell how it works.

use super::Key;
use super::points::{Buckets, Member, Point};

/// A ring of points.
#[derive(Debug)]
pub(super) struct Ring {
    /// The jump table: `2^bits` buckets of neighbouring places.
    buckets: Buckets,
    bits: u32,
}

impl Ring {
    /// Makes the ring of these services.
    pub(super) fn new(members: &[Member], fingers: u64, use_port: bool) -> Self {
        let weights: u64 = members.iter().map(|member| member.weight.value()).sum();
        let buckets = (fingers * weights / POINTS_PER_BUCKET).max(1);
        let bits = buckets.ilog2();
        let bucket_of = |place| bucket_of(place, bits);
        Self {
            buckets: Buckets::new(members, fingers, use_port, 1 << bits, bucket_of),
            bits,
        }
    }

    /// Goes over the positions of services in the order in which `key` prefers them.
    pub(super) fn walk(&self, key: Key) -> impl Iterator<Item = usize> {
        let place = (key.0 >> 32) as u32;
        let (start, bucket) = self.buckets.bucket(bucket_of(place, self.bits));
        let start = start + bucket.partition_point(|point| point.place < place);
        let (before, after) = self.buckets.points().split_at(start);
        let position = |point: &Point| point.position as usize;
        after.iter().chain(before).map(position)
    }
}

/// Returns the leading bits of a place.
fn bucket_of(place: u32, bits: u32) -> usize {
    (u64::from(place) << bits >> 32) as usize
}

/// About how many points lie in a bucket: half a cache line.
const POINTS_PER_BUCKET: u64 = 4;
