// SPDX-License-Identifier: Apache-2.0
//! The queries by hand over differential-dataflow, in memory. The result is arranged, so it can be read at each tick as a view can.
//! Each worker reads its share of a tick with the clock stopped; measured is from the rows in memory to the tick's result.

mod queries;

use std::sync::{Arc, Barrier};

use differential_dataflow::Data;
use differential_dataflow::input::InputSession;
use nexmark_peer::events::{Auction, Bid, Event, Person, Table};
use nexmark_peer::measure::{Clock, Run, Tally};
use timely::dataflow::operators::probe::Handle;
use timely::worker::Worker;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// One table's rows on their way in.
struct Feed<E: Event + Data> {
    table: Table<E>,
    input: InputSession<u64, E, isize>,
    rows: Vec<E>,
}

impl<E: Event + Data> Feed<E> {
    fn new(run: &Run) -> Self {
        Feed { table: Table::open(&run.folder, &run.query), input: InputSession::new(), rows: Vec::new() }
    }

    fn load(&mut self, end: u64, worker: &Worker) {
        self.rows = self.table.take(end, worker.index(), worker.peers());
    }

    fn send(&mut self, next: u64) {
        self.rows.drain(..).for_each(|row| self.input.insert(row));
        self.input.advance_to(next);
        self.input.flush();
    }
}

/// What the ticks took; then the result is counted.
fn work(worker: &mut Worker, run: &Run, barrier: &Barrier, tally: Arc<Tally>) -> Clock {
    let (mut people, mut auctions, mut bids) = (Feed::<Person>::new(run), Feed::<Auction>::new(run), Feed::<Bid>::new(run));
    let probe = Handle::new();
    let mut view = worker.dataflow(|scope| {
        let sources = queries::Sources { people: people.input.to_collection(scope), auctions: auctions.input.to_collection(scope), bids: bids.input.to_collection(scope) };
        queries::build(&run.query, sources, &probe)
    });
    let mut clock = Clock::default();
    for (tick, end) in run.ends().enumerate() {
        people.load(end, worker);
        auctions.load(end, worker);
        bids.load(end, worker);
        barrier.wait();
        let begun = Clock::begin();
        let next = tick as u64 + 1;
        people.send(next);
        auctions.send(next);
        bids.send(next);
        view.advance(next);
        worker.step_or_park_while(None, || probe.less_than(&next));
        barrier.wait();
        clock.end(begun);
    }
    drop((people, auctions, bids));                  // no more will come: what stands is the result
    view.count(worker, tally);
    clock
}

fn main() {
    let run = Run::from_args();
    let (tally, barrier) = (Arc::new(Tally::default()), Arc::new(Barrier::new(run.threads)));
    let (of_worker, of_run) = (tally.clone(), run.clone());
    let guards = timely::execute(timely::Config::process(run.threads), move |worker| work(worker, &of_run, &barrier, of_worker.clone())).expect("workers");
    let clocks: Vec<Clock> = guards.join().into_iter().map(|r| r.expect("a worker's clock")).collect();
    run.print(&clocks[0], &tally);
}
