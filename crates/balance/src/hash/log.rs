//! The logarithm that gives a service its weight in a rendezvous, in integers.
//!
//! A hash `h` of 64 bits stands for the fraction `u = (h | 1) / 2^64`, which is never 0 or 1. Then
//! `-ln(u)` is exponentially distributed, and the service with the least `-ln(u) / weight` is found
//! with a chance of exactly `weight / sum of weights`, whoever else takes part.
//!
//! # Derivation
//!
//! `u = 2^-lz * m` with `m` in `[1/2, 1)`, where `lz` counts the leading zeros of `h | 1`. The interval
//! `[1/2, 1)` has 256 parts; with `c` the upper end of the part that `m` lies in, `m = c * (1 - z)`:
//!
//! ```text
//!   -ln(u) = lz * ln 2  +  -ln(c)  +  (z + z^2/2 + z^3/3 + ...)         z = (c - m) / c
//! ```
//!
//! `-ln(c)` and `1/c` come from tables. The upper end, so that next to `u = 1`, where `c = 1` and the
//! first two terms are zero, the small result is the series alone and keeps its relative precision:
//! among many services the one found lies there.
//!
//! # Error
//!
//! `z <= 2^-8`. The series ends after its third term; what is left out is less than `z^4 / 3.9`, which is
//! `2^-25.9` of the series and so less than `1.6e-8` of the result. Rounding down in fixed point takes
//! less than `2^-51` more: a unit of `2^-58` at each of five places, and 63 units for `ln 2`. A service's
//! share is wrong by as small a part, far less than any number of clients could show.

/// Returns `-ln((hash | 1) / 2^64)`.
///
/// Units: 2^-58, so that 0 to 44.4 fit 64 bits.
pub(crate) fn minus_ln(hash: u64) -> u64 {
    let fraction = hash | 1;
    let zeros = fraction.leading_zeros();
    let mantissa = fraction << zeros;
    // The eight bits after the leading one say which part of `[1/2, 1)` it is.
    let part = (mantissa >> PART_BITS) & 0xFF;
    let Part { minus_ln, inverse } = PARTS[part as usize];
    // The end of the last part is 2^64: it wraps to 0, and the difference wraps back.
    let gap = ((part + 257) << PART_BITS).wrapping_sub(mantissa);
    let z = times(gap, inverse, 63);
    let z2 = times(z, z, 64);
    let z3 = times(z2, z, 64);
    let series = z + z2 / 2 + z3 / 3;
    u64::from(zeros) * (LN_2 >> 6) + minus_ln + (series >> 6)
}

/// Returns something that [`minus_ln`] is not below, for less effort.
///
/// `-ln(u) >= 1 - u`, less the error of [`minus_ln`]: `2^-20` of the result, and `2^-51`.
pub(crate) fn least_minus_ln(hash: u64) -> u64 {
    let rest = (hash | 1).wrapping_neg() >> 6;
    (rest - (rest >> 20)).saturating_sub(128)
}

/// One of the 256 parts of `[1/2, 1)`, known by its upper end `c`.
#[derive(Clone, Copy)]
struct Part {
    /// `-ln(c)`, in units of 2^-58.
    minus_ln: u64,
    /// `1 / c`, in units of 2^-63.
    inverse: u64,
}

impl Part {
    /// Makes the part that ends at `end / 512`, which is at most 1.
    const fn ending_at(end: u64) -> Self {
        Self {
            minus_ln: times(minus_log2(end), LN_2, 64) >> 6,
            inverse: low((512_u128 << 63) / end as u128),
        }
    }
}

/// Returns `-log2(end / 512)`, one bit after the other, for `end` from 257 to 512.
///
/// Units: 2^-64. Squaring doubles a logarithm: whether the square reaches 2 is its next bit. The
/// cut-off of a square is half as much of the result with each bit, less than 2^-61 altogether.
const fn minus_log2(end: u64) -> u64 {
    if end == 512 {
        return 0;
    }
    // `end / 256`, between 1 and 2, in units of 2^-63.
    let mut x = (end as u128) << 55;
    let mut log2: u64 = 0;
    let mut bit = 0;
    while bit < 64 {
        x = (x * x) >> 63;
        log2 <<= 1;
        if x >> 64 != 0 {
            log2 |= 1;
            x >>= 1;
        }
        bit += 1;
    }
    // `-log2(end / 512) = 1 - log2(end / 256)`.
    log2.wrapping_neg()
}

/// Returns `a * b / 2^shift`, which the caller knows to fit.
const fn times(a: u64, b: u64, shift: u32) -> u64 {
    low((a as u128 * b as u128) >> shift)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the callers' numbers are fractions below 2 in units of 2^-63 or below 1 in units of 2^-64"
)]
const fn low(number: u128) -> u64 {
    number as u64
}

const PARTS: [Part; 256] = {
    let mut parts = [Part::ending_at(512); 256];
    let mut part = 0;
    while part < 256 {
        parts[part] = Part::ending_at(part as u64 + 257);
        part += 1;
    }
    parts
};

/// The bits of a mantissa below those that say which part it lies in: 64 less one less eight.
const PART_BITS: u32 = 55;

/// `ln 2`, in units of 2^-64.
const LN_2: u64 = 0xB172_17F7_D1CF_79AB;

#[cfg(test)]
mod tests {
    use super::*;

    /// The logarithm in floating point, from whichever end is more precise.
    fn expected(hash: u64) -> f64 {
        let fraction = hash | 1;
        if fraction >> 63 == 1 {
            -(-(fraction.wrapping_neg() as f64) / 2_f64.powi(64)).ln_1p()
        } else {
            64.0 * 2_f64.ln() - (fraction as f64).ln()
        }
    }

    fn check(hash: u64) {
        let found = minus_ln(hash) as f64 / 2_f64.powi(58);
        let expected = expected(hash);
        let allowed = expected * 1.6e-8 + 2_f64.powi(-51);
        assert!(
            (found - expected).abs() <= allowed,
            "{hash:#x}: {found} is not {expected}"
        );
        let least = least_minus_ln(hash);
        assert!(least <= minus_ln(hash), "{hash:#x}: {least}");
    }

    #[test]
    fn logarithm_is_within_the_derived_error() {
        for shift in 0..64 {
            for hash in [0, 1, 2, 3, 5, 0xAB, 0xFFFF] {
                check(hash << shift);
                check(!(hash << shift));
            }
        }
        // The ends of all parts, from both sides.
        for end in 256..=512_u64 {
            for step in [-2_i64, 0, 2] {
                check((end << 55).wrapping_add_signed(step));
            }
        }
        let mut hash = 0x1234_5678_9ABC_DEF0_u64;
        for _ in 0..1_000_000 {
            hash = hash
                .wrapping_mul(0x5851_F42D_4C95_7F2D)
                .wrapping_add(0x1405_7B7E);
            check(hash);
        }
    }

    #[test]
    fn known_values_are_exact_to_the_bit() {
        assert_eq!(minus_ln(u64::MAX), 0);
        // -ln(1/2) and -ln(2^-64), rounded down.
        assert_eq!(minus_ln((1 << 63) - 2), LN_2 >> 6);
    }
}
