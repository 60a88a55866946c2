//! The local address of a datagram, as the control message that carries it both ways.

use std::mem;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

use libc::{c_int, c_uint, c_void};

/// A local address, and where it needs one the number of its interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Local {
    ip: IpAddr,
    scope: u32,
}

impl Local {
    /// Returns the address with `port`, as a session is keyed by.
    pub(crate) fn with_port(self, port: u16) -> SocketAddr {
        match self.ip {
            IpAddr::V4(ip) => SocketAddr::from((ip, port)),
            IpAddr::V6(ip) => SocketAddr::V6(SocketAddrV6::new(ip, port, 0, self.scope)),
        }
    }
}

/// A control buffer, aligned as `cmsghdr` wants it.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
pub(super) struct Control([u8; CONTROL_LEN]);

impl Control {
    /// Holds nothing.
    pub(super) const EMPTY: Self = Self([0; CONTROL_LEN]);

    /// Returns where the system may write, for [`CONTROL_LEN`] bytes.
    pub(super) fn as_mut_ptr(&mut self) -> *mut c_void {
        self.0.as_mut_ptr().cast()
    }

    /// Returns where the system may read, for [`CONTROL_LEN`] bytes.
    pub(super) fn as_ptr(&self) -> *const c_void {
        self.0.as_ptr().cast()
    }

    /// Makes the datagram leave from the local address `source`; returns the length used.
    pub(super) fn set_source(&mut self, source: SocketAddr) -> usize {
        match source {
            SocketAddr::V4(source) => {
                let info = libc::in_pktinfo {
                    ipi_ifindex: 0,
                    ipi_spec_dst: libc::in_addr {
                        s_addr: u32::from(*source.ip()).to_be(),
                    },
                    ipi_addr: libc::in_addr { s_addr: 0 },
                };
                self.set(libc::IPPROTO_IP, libc::IP_PKTINFO, info)
            }
            SocketAddr::V6(source) => {
                let info = libc::in6_pktinfo {
                    ipi6_addr: libc::in6_addr {
                        s6_addr: source.ip().octets(),
                    },
                    ipi6_ifindex: source.scope_id(),
                };
                self.set(libc::IPPROTO_IPV6, libc::IPV6_PKTINFO, info)
            }
        }
    }

    /// Writes one control message and returns the length used.
    fn set<T: Copy>(&mut self, level: c_int, kind: c_int, value: T) -> usize {
        let len = size_of::<T>() as c_uint;
        // SAFETY: these two only compute lengths.
        let (space, filled) = unsafe { (libc::CMSG_SPACE(len), libc::CMSG_LEN(len)) };
        assert!(
            space as usize <= CONTROL_LEN,
            "the control buffer holds any packet information"
        );
        let start: *mut libc::cmsghdr = self.0.as_mut_ptr().cast();
        // SAFETY: `start` is aligned for a cmsghdr (the type's alignment is 8), and header and value
        // fit into the buffer, as checked above. The value may be unaligned.
        unsafe {
            (*start).cmsg_level = level;
            (*start).cmsg_type = kind;
            (*start).cmsg_len = filled as usize;
            libc::CMSG_DATA(start).cast::<T>().write_unaligned(value);
        }
        space as usize
    }

    /// Finds the local address in what the system wrote, which are the first `len` bytes.
    pub(super) fn local_address(&self, len: usize) -> Option<Local> {
        // SAFETY: plain C data, for which all zeroes (null pointers, no lengths) is valid.
        let mut header: libc::msghdr = unsafe { mem::zeroed() };
        header.msg_control = self.0.as_ptr().cast_mut().cast();
        header.msg_controllen = len.min(CONTROL_LEN);
        // SAFETY: `header` describes readable, initialised bytes of this buffer, which is aligned.
        let mut message = unsafe { libc::CMSG_FIRSTHDR(&header) };
        while !message.is_null() {
            // SAFETY: not null, so it points to a message header that is within the buffer.
            let (level, kind) = unsafe { ((*message).cmsg_level, (*message).cmsg_type) };
            // SAFETY: the data follows its header.
            let data = unsafe { libc::CMSG_DATA(message) };
            if (level, kind) == (libc::IPPROTO_IP, libc::IP_PKTINFO) {
                // SAFETY: level and kind tell the type; the buffer has room for it; any bytes are
                // a value of it; it may be unaligned.
                return Some(ipv4_local(unsafe {
                    data.cast::<libc::in_pktinfo>().read_unaligned()
                }));
            }
            if (level, kind) == (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) {
                // SAFETY: as above.
                return Some(ipv6_local(unsafe {
                    data.cast::<libc::in6_pktinfo>().read_unaligned()
                }));
            }
            // SAFETY: as for the first one; `message` is in the same buffer.
            message = unsafe { libc::CMSG_NXTHDR(&header, message) };
        }
        None
    }
}

/// A datagram to a broadcast or multicast address is answered from `ipi_spec_dst`; one that arrived
/// before the option was set has only `ipi_addr`.
fn ipv4_local(info: libc::in_pktinfo) -> Local {
    let address = match info.ipi_spec_dst.s_addr {
        0 => info.ipi_addr.s_addr,
        source => source,
    };
    Local {
        ip: IpAddr::V4(Ipv4Addr::from(u32::from_be(address))),
        scope: 0,
    }
}

/// Only link-local addresses need their interface; for others a fixed one would hinder routing.
fn ipv6_local(info: libc::in6_pktinfo) -> Local {
    let ip = Ipv6Addr::from(info.ipi6_addr.s6_addr);
    let scope = if ip.is_unicast_link_local() {
        info.ipi6_ifindex
    } else {
        0
    };
    Local {
        ip: IpAddr::V6(ip),
        scope,
    }
}

/// Holds the packet information of either family: 40 bytes with its header.
pub(super) const CONTROL_LEN: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_written_is_the_address_read() {
        for text in [
            "127.0.0.77:53",
            "[2001:db8::1]:53",
            "[fe80::1%3]:53",
            "[::ffff:192.0.2.1]:53",
        ] {
            let source: SocketAddr = text.parse().unwrap();
            let mut control = Control::EMPTY;
            let len = control.set_source(source);
            assert_eq!(
                control.local_address(len).map(|local| local.with_port(53)),
                Some(source)
            );
            assert_eq!(control.local_address(0), None);
        }
    }
}
