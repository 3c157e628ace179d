// SPDX-License-Identifier: Apache-2.0
//! The dataflow of each query. Rows are tuples in the order of the view's columns; what is numeric there is in thousandths, rounded down.

use std::hash::Hash;
use std::sync::Arc;

use differential_dataflow::operators::arrange::TraceAgent;
use differential_dataflow::operators::{CountTotal, ThresholdTotal};
use differential_dataflow::trace::TraceReader;
use differential_dataflow::trace::implementations::KeySpine;
use differential_dataflow::{ExchangeData, VecCollection};
use nexmark_peer::events::{Auction, Bid, Person};
use nexmark_peer::measure::Tally;
use nexmark_peer::rows::Line;
use nexmark_peer::{DAY, HOP, HOPS, TUMBLE, bin, class};
use timely::dataflow::operators::Probe;
use timely::dataflow::operators::probe::Handle;
use timely::progress::frontier::AntichainRef;
use timely::worker::Worker;

type Rows<'s, D> = VecCollection<'s, u64, D, isize>;

pub struct Sources<'s> {
    pub people: Rows<'s, Person>,
    pub auctions: Rows<'s, Auction>,
    pub bids: Rows<'s, Bid>,
}

/// A result that is kept.
pub trait View {
    /// Nobody will ask for states before `tick`.
    fn advance(&mut self, tick: u64);
    fn count(self: Box<Self>, worker: &mut Worker, tally: Arc<Tally>);
}

struct Kept<D: ExchangeData>(TraceAgent<KeySpine<D, u64, isize>>);

impl<D: ExchangeData + Hash + Line> View for Kept<D> {
    fn advance(&mut self, tick: u64) {
        self.0.set_logical_compaction(AntichainRef::new(&[tick]));
        self.0.set_physical_compaction(AntichainRef::new(&[tick]));
    }

    fn count(mut self: Box<Self>, worker: &mut Worker, tally: Arc<Tally>) {
        worker.dataflow(|scope| {
            let rows = self.0.import(scope).as_collection(|row: &D, _| row.clone());
            rows.inspect(move |(row, _, times)| tally.add(row, *times as i64));
        });
        drop(self);
        while worker.step() {}
    }
}

fn keep<D: ExchangeData + Hash + Line>(rows: Rows<D>, probe: &Handle<u64>) -> Box<dyn View> {
    let kept = rows.arrange_by_self();
    kept.stream.probe_with(probe);
    Box::new(Kept(kept.trace))
}

pub fn build(query: &str, s: Sources, probe: &Handle<u64>) -> Box<dyn View> {
    match query {
        "q0" => keep(s.bids.map(|b| (b.auction, b.bidder, b.price, b.time, b.extra)), probe),
        "q1" => keep(s.bids.map(|b| (b.auction, b.bidder, b.price * 908, b.time, b.extra)), probe),
        "q2" => keep(s.bids.filter(|b| b.auction % 123 == 0).map(|b| (b.auction, b.price)), probe),
        "q3" => keep(q3(s), probe),
        "q4" => keep(q4(s), probe),
        "q5" => keep(q5(s.bids), probe),
        "q6" => keep(q6(s), probe),
        "q7" => keep(q7(s.bids), probe),
        "q8" => keep(q8(s), probe),
        "q9" => keep(q9(s), probe),
        "q12" => keep(s.bids.map(|b| (b.bidder, bin(b.time, TUMBLE))).count_total().map(|((bidder, start), n)| (bidder, start, n as i64)), probe),
        "q15" => keep(ranks(s.bids, |b| bin(b.time, DAY)).map(|(day, counts)| (day, counts)), probe),
        "q16" => keep(ranks(s.bids, |b| (b.channel.clone(), bin(b.time, DAY))), probe),
        "q17" => keep(q17(s.bids), probe),
        "q18" => keep(q18(s.bids), probe),
        "q19" => keep(q19(s.bids), probe),
        "q20" => keep(q20(s), probe),
        _ => panic!("no query {query}"),
    }
}

fn q3(s: Sources) -> Rows<(String, String, String, i64)> {
    let people = s.people.filter(|p| matches!(p.state.as_str(), "OR" | "ID" | "CA")).map(|p| (p.id, (p.name, p.city, p.state)));
    let auctions = s.auctions.filter(|a| a.category == 10).map(|a| (a.seller, a.id));
    auctions.join_map(people, |_, id, (name, city, state)| (name.clone(), city.clone(), state.clone(), *id))
}

fn q4(s: Sources) -> Rows<(i64, i64)> {
    let auctions = s.auctions.map(|a| (a.id, (a.category, a.time, a.expires))).arrange_by_key();
    let bids = s.bids.map(|b| (b.auction, (b.price, b.time))).arrange_by_key();
    let valid = auctions.join_core(bids, |id, (category, opens, expires), (price, time)| (opens..=expires).contains(&time).then_some(((*id, *category), *price)));
    let finals = valid.reduce(|_, prices, out| out.push((*prices.last().expect("a price").0, 1)));
    finals.explode(|((_, category), price)| Some((category, (price as isize, 1isize)))).count_total().map(|(category, (sum, n))| (category, thousandths(sum as i64, n as i64)))
}

fn thousandths(sum: i64, n: i64) -> i64 {
    sum * 1000 / n
}

fn q5(bids: Rows<Bid>) -> Rows<(i64, i64, i64)> {
    let hops = bids.flat_map(|b| (0..HOPS).map(move |s| (b.auction, bin(b.time, HOP) - s * HOP)));
    let counts = hops.count_total().map(|((auction, start), n)| (start, (n as i64, auction)));
    let most = counts.reduce(|_, counts, out| {
        let n = counts.last().expect("a count").0.0;
        out.extend(counts.iter().rev().take_while(|(c, _)| c.0 == n).map(|(c, _)| (**c, 1)));
    });
    most.map(|(start, (n, auction))| (auction, start, n))
}

/// The winning bid of each auction: highest, then earliest, then of the lowest bidder; with the auction's attributes.
fn winners<'s, A: ExchangeData>(auctions: Rows<'s, Auction>, bids: Rows<'s, Bid>, attributes: impl Fn(Auction) -> A + 'static) -> Rows<'s, (i64, A, (i64, i64, i64))> {
    let auctions = auctions.map(move |a| (a.id, (a.time, a.expires, attributes(a)))).arrange_by_key();
    let bids = bids.map(|b| (b.auction, (-b.price, b.time, b.bidder))).arrange_by_key();
    let valid = auctions.clone().join_core(bids, |id, (opens, expires, _), bid| (opens..=expires).contains(&&bid.1).then_some((*id, *bid)));
    let first = valid.reduce(|_, bids, out| out.push((*bids[0].0, 1)));
    first.arrange_by_key().join_core(auctions, |id, (price, time, bidder), (_, _, attributes)| Some((*id, attributes.clone(), (-price, *time, *bidder))))
}

fn q6(s: Sources) -> Rows<(i64, i64, i64)> {
    let finals = winners(s.auctions, s.bids, |a| (a.seller, a.expires)).map(|(id, (seller, expires), (price, ..))| (seller, (expires, id, price)));
    let averages = finals.reduce(|_, finals, out| {
        for i in 0..finals.len() {
            let last = &finals[i.saturating_sub(10)..=i];
            out.push(((thousandths(last.iter().map(|f| f.0.2).sum(), last.len() as i64), finals[i].0.1), 1));
        }
    });
    averages.map(|(seller, (price, auction))| (seller, price, auction))
}

fn q7(bids: Rows<Bid>) -> Rows<(i64, i64, i64, i64)> {
    let windows = bids.map(|b| (bin(b.time, TUMBLE), (b.price, b.auction, b.bidder, b.time)));
    let highest = windows.reduce(|_, bids, out| {
        let price = bids.last().expect("a bid").0.0;
        out.extend(bids.iter().rev().take_while(|(b, _)| b.0 == price).map(|(b, times)| (**b, *times)));
    });
    highest.map(|(_, (price, auction, bidder, time))| (auction, price, bidder, time))
}

fn q8(s: Sources) -> Rows<(i64, String, i64)> {
    let people = s.people.map(|p| ((p.id, bin(p.time, TUMBLE)), p.name)).distinct_total();
    let sellers = s.auctions.map(|a| (a.seller, bin(a.time, TUMBLE))).distinct_total().map(|seller| (seller, ()));
    people.join_map(sellers, |(id, start), name, ()| (*id, name.clone(), *start))
}

fn q9(s: Sources) -> Rows<(i64, String, i64, i64, i64, i64, i64, i64)> {
    winners(s.auctions, s.bids, |a| (a.item_name, a.seller, a.category)).map(|(id, (item, seller, category), (price, time, bidder))| (id, item, seller, category, id, bidder, price, time))
}

/// q15 and q16: bids, different bidders and different auctions of a key; of all bids and of each class of prices.
fn ranks<'s, K: ExchangeData + Hash>(bids: Rows<'s, Bid>, key: impl Fn(&Bid) -> K + 'static) -> Rows<'s, (K, [i64; 12])> {
    let bids = bids.map(move |b| (key(&b), b.auction, b.bidder, class(b.price)));
    let all = bids.clone().explode(|(key, _, _, class)| Some((key, units(&[0, class])))).count_total();
    let bidders = different(bids.clone().map(|(key, _, bidder, class)| (key, bidder, class)));
    let auctions = different(bids.map(|(key, auction, _, class)| (key, auction, class)));
    all.join(bidders).join_map(auctions, |key, (bids, bidders), auctions| (key.clone(), numbers([bids, bidders, auctions])))
}

type Four = (isize, isize, isize, isize);

fn units(classes: &[i64]) -> Four {
    let one = |c: i64| classes.contains(&c) as isize;
    (one(0), one(1), one(2), one(3))
}

fn numbers(counts: [&Four; 3]) -> [i64; 12] {
    let mut all = [0; 12];
    for (row, (a, b, c, d)) in all.chunks_mut(4).zip(counts) {
        row.copy_from_slice(&[*a as i64, *b as i64, *c as i64, *d as i64]);
    }
    all
}

fn different<K: ExchangeData + Hash>(rows: Rows<(K, i64, i64)>) -> Rows<(K, Four)> {
    let once = rows.flat_map(|(key, id, class)| [(key.clone(), id, 0), (key, id, class)]).distinct_total();
    once.explode(|(key, _, class)| Some((key, units(&[class])))).count_total()
}

fn q17(bids: Rows<Bid>) -> Rows<(i64, i64, i64, i64, i64, i64, i64, i64, i64)> {
    let prices = bids.map(|b| ((b.auction, bin(b.time, DAY)), b.price));
    let statistics = prices.reduce(|_, prices, out| {
        let (mut n, mut low, mut high, mut sum) = (0, 0, 0, 0);
        for (price, times) in prices {
            let times = *times as i64;
            n += times;
            low += if class(**price) == 1 { times } else { 0 };
            high += if class(**price) == 3 { times } else { 0 };
            sum += *price * times;
        }
        out.push((((n, low, high), *prices[0].0, *prices.last().expect("a price").0, sum), 1));
    });
    statistics.map(|((auction, day), ((n, low, high), least, most, sum))| (auction, day, n, low, high, least, most, thousandths(sum, n), sum * 1000))
}

fn q18(bids: Rows<Bid>) -> Rows<(i64, i64, i64, String, i64)> {
    let of_both = bids.map(|b| ((b.bidder, b.auction), (-b.time, b.price, b.channel)));
    let last = of_both.reduce(|_, bids, out| out.push((bids[0].0.clone(), 1)));
    last.map(|((bidder, auction), (time, price, channel))| (auction, bidder, price, channel, -time))
}

fn q19(bids: Rows<Bid>) -> Rows<(i64, i64, i64, i64, i64)> {
    let of_auction = bids.map(|b| (b.auction, (-b.price, b.time, b.bidder)));
    let top = of_auction.reduce(|_, bids, out| {
        let each = bids.iter().flat_map(|(bid, times)| std::iter::repeat_n(**bid, *times as usize));
        out.extend(each.take(10).zip(1i64..).map(|((price, time, bidder), place)| ((bidder, -price, time, place), 1)));
    });
    top.map(|(auction, (bidder, price, time, place))| (auction, bidder, price, time, place))
}

fn q20(s: Sources) -> Rows<(i64, i64, i64, String, String, i64, i64)> {
    let auctions = s.auctions.filter(|a| a.category == 10).map(|a| (a.id, (a.item_name, a.seller, a.category)));
    let bids = s.bids.map(|b| (b.auction, (b.bidder, b.price, b.channel)));
    bids.join_map(auctions, |auction, (bidder, price, channel), (item, seller, category)| (*auction, *bidder, *price, channel.clone(), item.clone(), *seller, *category))
}
