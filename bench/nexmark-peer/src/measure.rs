// SPDX-License-Identifier: Apache-2.0
//! What a run is told and what it prints: `query folder events tick threads` in, `events_per_second peak_mib processor_seconds rows sum` out.

use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::rows::Line;

#[derive(Clone)]
pub struct Run {
    pub query: String,
    pub folder: PathBuf,
    pub events: u64,
    pub tick: u64,
    pub threads: usize,
}

impl Run {
    pub fn from_args() -> Run {
        let args: Vec<String> = std::env::args().skip(1).collect();
        assert!(args.len() == 5, "query folder events tick threads");
        let number = |i: usize| args[i].parse::<u64>().expect("a number");
        Run { query: args[0].clone(), folder: PathBuf::from(&args[1]), events: number(2), tick: number(3), threads: number(4) as usize }
    }

    /// The ends of the ticks: events below this are in.
    pub fn ends(&self) -> impl Iterator<Item = u64> + use<> {
        let (events, tick) = (self.events, self.tick);
        (1..=events.div_ceil(tick)).map(move |n| (n * tick).min(events))
    }

    pub fn print(&self, clock: &Clock, tally: &Tally) {
        let rate = self.events as f64 / clock.taken.as_secs_f64();
        println!("{rate:.0} {} {:.2} {} {}", clock.peak_mib, clock.cpu.as_secs_f64(), tally.rows.load(Ordering::SeqCst), tally.sum.load(Ordering::SeqCst));
    }
}

/// What the ticks took together, in time and in time of all processors, and the largest resident set so far.
#[derive(Clone, Default)]
pub struct Clock {
    taken: Duration,
    cpu: Duration,
    peak_mib: u64,
}

impl Clock {
    pub fn begin() -> (Instant, Duration) {
        (Instant::now(), cpu())
    }

    pub fn end(&mut self, begun: (Instant, Duration)) {
        self.taken += begun.0.elapsed();
        self.cpu += cpu() - begun.1;
        self.peak_mib = peak_mib();
    }
}

/// The process's time so far, from the kernel in hundredths of a second.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("the process's times");
    let fields: Vec<&str> = stat.rsplit(')').next().expect("fields").split_whitespace().collect();
    let ticks = |i: usize| fields[i].parse::<u64>().expect("a number");
    Duration::from_millis((ticks(11) + ticks(12)) * 10)
}

/// The result as a bag in two numbers: its rows, and the sum of the CRC-32 of each row's text, modulo 2^64.
#[derive(Default)]
pub struct Tally {
    rows: AtomicI64,
    sum: AtomicU64,
}

impl Tally {
    pub fn add<L: Line>(&self, row: &L, times: i64) {
        let mut text = String::new();
        row.line(&mut text);
        let crc = crc32(text.as_bytes()) as i64;
        self.rows.fetch_add(times, Ordering::SeqCst);
        self.sum.fetch_add((crc * times) as u64, Ordering::SeqCst);
    }
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, b| (0..8).fold(crc ^ *b as u32, |c, _| (c >> 1) ^ (0xedb8_8320 & (c & 1).wrapping_neg())))
}

/// The process's largest resident set so far, in MiB.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the process's status");
    let line = status.lines().find(|l| l.starts_with("VmHWM:")).expect("VmHWM");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).expect("KiB") / 1024
}
