// SPDX-License-Identifier: Apache-2.0
//! Events: one file a table, a line a row, tab-separated, the event's number first. Times are milliseconds since 1970.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Person {
    pub id: i64,
    pub name: String,
    pub email: String,
    pub credit_card: String,
    pub city: String,
    pub state: String,
    pub time: i64,
    pub extra: String,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Auction {
    pub id: i64,
    pub item_name: String,
    pub description: String,
    pub initial_bid: i64,
    pub reserve: i64,
    pub time: i64,
    pub expires: i64,
    pub seller: i64,
    pub category: i64,
    pub extra: String,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bid {
    pub auction: i64,
    pub bidder: i64,
    pub price: i64,
    pub channel: String,
    pub url: String,
    pub time: i64,
    pub extra: String,
}

/// The cells of a line, in order.
pub struct Cells<'a>(std::str::Split<'a, char>);

impl Cells<'_> {
    fn text(&mut self) -> String {
        self.0.next().expect("a cell").to_string()
    }

    fn number(&mut self) -> i64 {
        self.0.next().expect("a cell").parse().expect("a number")
    }
}

pub trait Event: Sized {
    const TABLE: &'static str;
    fn read(cells: &mut Cells) -> Self;
}

impl Event for Person {
    const TABLE: &'static str = "person";
    fn read(c: &mut Cells) -> Self {
        Person { id: c.number(), name: c.text(), email: c.text(), credit_card: c.text(), city: c.text(), state: c.text(), time: c.number(), extra: c.text() }
    }
}

impl Event for Auction {
    const TABLE: &'static str = "auction";
    fn read(c: &mut Cells) -> Self {
        Auction {
            id: c.number(),
            item_name: c.text(),
            description: c.text(),
            initial_bid: c.number(),
            reserve: c.number(),
            time: c.number(),
            expires: c.number(),
            seller: c.number(),
            category: c.number(),
            extra: c.text(),
        }
    }
}

impl Event for Bid {
    const TABLE: &'static str = "bid";
    fn read(c: &mut Cells) -> Self {
        Bid { auction: c.number(), bidder: c.number(), price: c.number(), channel: c.text(), url: c.text(), time: c.number(), extra: c.text() }
    }
}

/// Which tables a query reads.
pub fn reads(query: &str, table: &str) -> bool {
    match table {
        "person" => matches!(query, "q3" | "q8"),
        "auction" => matches!(query, "q3" | "q4" | "q6" | "q8" | "q9" | "q20"),
        _ => !matches!(query, "q3" | "q8"),
    }
}

/// One table's file, read forward: `take` gives the rows of events below `end`, of these the share of worker `index` of `of`.
pub struct Table<E> {
    file: Option<BufReader<File>>,
    line: String,
    event: std::marker::PhantomData<E>,
}

impl<E: Event> Table<E> {
    pub fn open(folder: &Path, query: &str) -> Self {
        let file = reads(query, E::TABLE).then(|| {
            let file = File::open(folder.join(E::TABLE)).expect("the events' file");
            BufReader::with_capacity(1 << 20, file)
        });
        Table { file, line: String::new(), event: std::marker::PhantomData }
    }

    pub fn take(&mut self, end: u64, index: usize, of: usize) -> Vec<E> {
        let mut rows = Vec::new();
        while self.more() {
            let mut cells = Cells(self.line.trim_end_matches('\n').split('\t'));
            let number = cells.number() as u64;
            if number >= end {
                return rows;
            }
            if (number / 4) as usize % of == index {
                rows.push(E::read(&mut cells));
            }
            self.line.clear();
        }
        rows
    }

    /// A line is there; one that a batch did not want stays for the next.
    fn more(&mut self) -> bool {
        match &mut self.file {
            Some(file) if self.line.is_empty() => file.read_line(&mut self.line).expect("a line") > 0,
            Some(_) => true,
            None => false,
        }
    }
}
