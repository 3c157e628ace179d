// SPDX-License-Identifier: Apache-2.0
//! The queries over the dbsp crate, in memory. The result is integrated, so it can be read at each tick as a view can.
//! A tick is read with the clock stopped; measured is from the rows in memory to the end of the tick's transaction.

mod queries;

use dbsp::mimalloc::MiMalloc;
use dbsp::utils::{Tup2, Tup7, Tup8, Tup10};
use dbsp::{DBData, Runtime, ZSetHandle};
use nexmark_peer::events::{Auction, Bid, Event, Person, Table};
use nexmark_peer::measure::{Clock, Run, Tally};

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// One table's rows on their way in.
struct Feed<E, R: DBData> {
    table: Table<E>,
    input: ZSetHandle<R>,
    row: fn(E) -> R,
    rows: Vec<Tup2<R, i64>>,
}

impl<E: Event, R: DBData> Feed<E, R> {
    fn new(run: &Run, input: ZSetHandle<R>, row: fn(E) -> R) -> Self {
        Feed { table: Table::open(&run.folder, &run.query), input, row, rows: Vec::new() }
    }

    fn load(&mut self, end: u64) {
        self.rows = self.table.take(end, 0, 1).into_iter().map(|e| Tup2((self.row)(e), 1)).collect();
    }

    fn send(&mut self) {
        self.input.append(&mut self.rows);
    }
}

fn main() {
    let run = Run::from_args();
    let query = run.query.clone();
    let built = Runtime::init_circuit(run.threads, move |circuit| Ok(queries::build(circuit, &query)));
    let (mut circuit, (inputs, view)) = built.expect("a circuit");
    let mut people = Feed::new(&run, inputs.people, |p: Person| Tup8(p.id, p.name, p.email, p.credit_card, p.city, p.state, p.time, p.extra));
    let mut auctions = Feed::new(&run, inputs.auctions, |a: Auction| Tup10(a.id, a.item_name, a.description, a.initial_bid, a.reserve, a.time, a.expires, a.seller, a.category, a.extra));
    let mut bids = Feed::new(&run, inputs.bids, |b: Bid| Tup7(b.auction, b.bidder, b.price, b.channel, b.url, b.time, b.extra));
    let (mut clock, tally) = (Clock::default(), Tally::default());
    for end in run.ends() {
        people.load(end);
        auctions.load(end);
        bids.load(end);
        let begun = Clock::begin();
        people.send();
        auctions.send();
        bids.send();
        circuit.transaction().expect("a transaction");
        clock.end(begun);
        view(&tally);
    }
    run.print(&clock, &tally);
    circuit.kill().expect("an end");
}
