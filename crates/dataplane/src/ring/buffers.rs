//! The buffers that the kernel receives into: one is taken when bytes are there, so who waits has none.
//!
//! Owns the memory and the ring in which buffers are offered. Invariant: a buffer is either offered or
//! lent out.

#![expect(
    unsafe_code,
    reason = "the kernel and this process share the memory of the buffers and of their ring"
)]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::IoUring;
use io_uring::types::BufRingEntry;

/// A buffer that the kernel has filled.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Lent {
    id: u16,
    sent: u32,
    end: u32,
}

impl Lent {
    /// The buffer `id`, of which the first `filled` bytes were received.
    pub(super) fn new(id: u16, filled: i32) -> Self {
        let end = u32::try_from(filled).unwrap_or(0).min(SIZE as u32);
        Self { id, sent: 0, end }
    }

    /// Notes that `bytes` more were sent.
    pub(crate) fn note_sent(&mut self, bytes: usize) {
        let left = (self.end - self.sent) as usize;
        self.sent += bytes.min(left) as u32;
    }
}

/// All buffers of a worker.
pub(super) struct Buffers {
    memory: Pages,
    ring: Pages,
    /// Where the next one is offered.
    tail: u16,
}

impl Buffers {
    /// Makes the buffers and offers all of them.
    ///
    /// # Errors
    /// What the kernel says.
    pub(super) fn register(uring: &IoUring) -> io::Result<Self> {
        let mut buffers = Self {
            memory: Pages::new(COUNT as usize * SIZE),
            ring: Pages::new(COUNT as usize * size_of::<BufRingEntry>()),
            tail: 0,
        };
        let ring = buffers.ring.start.as_ptr() as u64;
        // SAFETY: the ring of buffers has room for as many entries and is freed after the ring, whose
        // owner drops it first.
        unsafe {
            uring
                .submitter()
                .register_buf_ring_with_flags(ring, COUNT, GROUP, 0)?;
        }
        for id in 0..COUNT {
            buffers.offer(id);
        }
        Ok(buffers)
    }

    /// Returns what is in a buffer and was not sent yet.
    pub(super) fn bytes(&self, lent: &Lent) -> &[u8] {
        debug_assert!(lent.id < COUNT);
        let length = (lent.end - lent.sent) as usize;
        // SAFETY: `id` is below COUNT (it comes from the kernel, which knows only those offered), and
        // `sent <= end <= SIZE`, so the bytes are within the memory, which was zeroed when made. The kernel writes to a
        // buffer only while it is offered.
        unsafe {
            let start = self.at(lent.id).add(lent.sent as usize);
            std::slice::from_raw_parts(start, length)
        }
    }

    /// Offers a buffer again.
    pub(super) fn give_back(&mut self, lent: Lent) {
        self.offer(lent.id);
    }

    fn at(&self, id: u16) -> *mut u8 {
        // SAFETY: the memory has COUNT buffers.
        unsafe { self.memory.start.as_ptr().add(usize::from(id) * SIZE) }
    }

    fn offer(&mut self, id: u16) {
        let place = usize::from(self.tail & (COUNT - 1));
        let entries = self.ring.start.as_ptr().cast::<BufRingEntry>();
        let address = self.at(id) as u64;
        self.tail = self.tail.wrapping_add(1);
        // SAFETY: the ring has COUNT entries, aligned as pages are; the kernel reads the one at `place` only after
        // the tail has passed it. The tail lies within the first entry, in a field that setting the others
        // leaves alone.
        unsafe {
            let entry = &mut *entries.add(place);
            entry.set_addr(address);
            entry.set_len(SIZE as u32);
            entry.set_bid(id);
            let tail = BufRingEntry::tail(entries).cast::<AtomicU16>();
            (*tail).store(self.tail, Ordering::Release);
        }
    }
}

/// Zeroed memory that begins with a page.
struct Pages {
    start: NonNull<u8>,
    layout: Layout,
}

impl Pages {
    fn new(bytes: usize) -> Self {
        let layout = Layout::from_size_align(bytes, PAGE).expect("a page is a power of two");
        // SAFETY: the layout has a size.
        let start = unsafe { alloc_zeroed(layout) };
        let start = NonNull::new(start).unwrap_or_else(|| handle_alloc_error(layout));
        Self { start, layout }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: allocated by `new` with the same layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

// SAFETY: whoever owns the pages has the only pointer to them in this process.
unsafe impl Send for Pages {}

/// The number of the group of buffers; there is one.
pub(super) const GROUP: u16 = 0;

/// A read that fills one says that bytes are many; then they are spliced.
const SIZE: usize = 32 << 10;

/// Flows that may have bytes between read and write at one moment; more than that use system calls. The memory is
/// 32 MiB, of which the pages exist that were ever written: 4 MiB for small messages.
const COUNT: u16 = 1024;

const PAGE: usize = 4096;
