//! The points that services have in a table, sorted into buckets.
//!
//! A point is a place (32 bits) that belongs to a service. Point number `j` of a service is the hash of
//! `j` and of its identity: it depends on no other service, so a service that joins or leaves adds or
//! takes its own points only. A service of weight `w` has the first `fingers * w` of its points.
//!
//! Bound: a table has at most [`MAX_POINTS`]. If the weights ask for more, everyone's points are halved until
//! they fit; crossing that line, and it alone, moves clients of services that stay.
//!
//! Invariant: within a bucket points are in the order of their places. At one place, the services are in
//! an order of that place's own, so that services of one identity take turns.

use super::{Fingers, Identity, score};
use crate::Weight;

/// One service of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) identity: Identity,
    pub(crate) weight: Weight,
}

/// One point.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Point {
    pub(super) place: u32,
    /// The position of its service in bind order.
    pub(super) position: u32,
}

/// Points by bucket.
#[derive(Debug)]
pub(super) struct Buckets {
    /// Where each bucket begins, and where the last one ends.
    starts: Vec<u32>,
    points: Vec<Point>,
}

impl Buckets {
    /// Sorts the points of `members` into `count` buckets by `bucket_of` their place.
    pub(super) fn new(
        members: &[Member],
        fingers: u64,
        use_port: bool,
        count: usize,
        bucket_of: impl Fn(u32) -> usize,
    ) -> Self {
        let mut starts = vec![0; count + 1];
        for point in points(members, fingers, use_port) {
            starts[bucket_of(point.place) + 1] += 1;
        }
        for bucket in 0..count {
            starts[bucket + 1] += starts[bucket];
        }
        let mut next = starts.clone();
        let mut sorted = vec![Point::default(); starts[count] as usize];
        for point in points(members, fingers, use_port) {
            let slot = &mut next[bucket_of(point.place)];
            sorted[*slot as usize] = point;
            *slot += 1;
        }
        let mut buckets = Self {
            starts,
            points: sorted,
        };
        for bucket in 0..count {
            buckets.sort(bucket, members);
        }
        buckets
    }

    /// Returns the points of a bucket, and the number of the first.
    pub(super) fn bucket(&self, bucket: usize) -> (usize, &[Point]) {
        let (start, end) = (self.starts[bucket], self.starts[bucket + 1]);
        let points = &self.points[start as usize..end as usize];
        (start as usize, points)
    }

    /// Returns all points: those of the first bucket, of the next one, and so on.
    pub(super) fn points(&self) -> &[Point] {
        &self.points
    }

    fn sort(&mut self, bucket: usize, members: &[Member]) {
        let (start, end) = (self.starts[bucket], self.starts[bucket + 1]);
        let points = &mut self.points[start as usize..end as usize];
        let turn = |point: &Point| {
            let own = members[point.position as usize].identity.own();
            (score(point.place.into(), own), point.position)
        };
        points.sort_unstable_by(|a, b| {
            let places = a.place.cmp(&b.place);
            places.then_with(|| turn(a).cmp(&turn(b)))
        });
    }
}

/// Returns the points of a service of weight 1: `fingers`, or fewer where the bound demands it.
pub(super) fn fingers_that_fit(members: &[Member], fingers: Fingers) -> u64 {
    let weights: u64 = members.iter().map(|member| member.weight.value()).sum();
    let mut fingers = fingers.value();
    while fingers > 1 && fingers * weights > MAX_POINTS {
        fingers /= 2;
    }
    fingers
}

fn points(members: &[Member], fingers: u64, use_port: bool) -> impl Iterator<Item = Point> {
    let positions = (0..).zip(members);
    positions.flat_map(move |(position, member)| {
        let identity = member.identity.deciding(use_port);
        let count = fingers * member.weight.value();
        (0..count).map(move |number| Point {
            place: (score(number, identity) >> 32) as u32,
            position,
        })
    })
}

/// The most points of one table, unless the weights alone add up to more.
///
/// Source: own choice: 32 MiB. 256 fingers reach it with 16,384 services of weight 1.
const MAX_POINTS: u64 = 1 << 22;
