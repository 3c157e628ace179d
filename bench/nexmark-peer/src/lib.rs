// SPDX-License-Identifier: Apache-2.0
//! What the two peers share: the events as nexmark.py writes them, the result's count and sum, the clock.

pub mod events;
pub mod measure;
pub mod rows;

/// Milliseconds of the windows and days of the queries.
pub const TUMBLE: i64 = 10_000;
pub const HOP: i64 = 2_000;
pub const HOPS: i64 = 5;
pub const DAY: i64 = 86_400_000;

/// The start of the window of `width` that holds `time`.
pub fn bin(time: i64, width: i64) -> i64 {
    time - time.rem_euclid(width)
}

/// A bid's class by price, as q15 and q16 count them: 0 holds all, so a bid is in class 0 and in this one.
pub fn class(price: i64) -> i64 {
    match price {
        ..1000 => 1,
        1000..5000 => 2,
        _ => 3,
    }
}
