// SPDX-License-Identifier: Apache-2.0
//! The circuit of each query. Rows are tuples in the order of the view's columns; what is numeric there is in thousandths, rounded down.

use std::cmp::Ordering;

use dbsp::algebra::UnimplementedSemigroup;
use dbsp::operator::{CmpFunc, Fold, Max};
use dbsp::typed_batch::IndexedZSetReader;
use dbsp::utils::{Tup2, Tup3, Tup4, Tup5, Tup7, Tup8, Tup9, Tup10};
use dbsp::{DBData, OrdIndexedZSet, OrdZSet, RootCircuit, Stream, ZSetHandle};
use nexmark_peer::measure::Tally;
use nexmark_peer::rows::Line;
use nexmark_peer::{DAY, HOP, HOPS, TUMBLE, bin, class};

pub type PersonRow = Tup8<i64, String, String, String, String, String, i64, String>;
pub type AuctionRow = Tup10<i64, String, String, i64, i64, i64, i64, i64, i64, String>;
pub type BidRow = Tup7<i64, i64, i64, String, String, i64, String>;

type Rows<D> = Stream<RootCircuit, OrdZSet<D>>;
type Indexed<K, V> = Stream<RootCircuit, OrdIndexedZSet<K, V>>;

pub struct Inputs {
    pub people: ZSetHandle<PersonRow>,
    pub auctions: ZSetHandle<AuctionRow>,
    pub bids: ZSetHandle<BidRow>,
}

struct Sources {
    people: Rows<PersonRow>,
    auctions: Rows<AuctionRow>,
    bids: Rows<BidRow>,
}

/// Counts a tick's changes of the result.
pub type View = Box<dyn Fn(&Tally) + Send>;

pub fn build(circuit: &mut RootCircuit, query: &str) -> (Inputs, View) {
    let (people, p) = circuit.add_input_zset();
    let (auctions, a) = circuit.add_input_zset();
    let (bids, b) = circuit.add_input_zset();
    (Inputs { people: p, auctions: a, bids: b }, view(Sources { people, auctions, bids }, query))
}

fn keep<D: DBData + Line>(rows: Rows<D>) -> View {
    rows.accumulate_integrate_trace();
    let changes = rows.accumulate_output();
    Box::new(move |tally| changes.concat().consolidate().iter().for_each(|(row, (), times)| tally.add(&row, times)))
}

fn view(s: Sources, query: &str) -> View {
    match query {
        "q0" => keep(s.bids.map(|b| Tup5(b.0, b.1, b.2, b.5, b.6.clone()))),
        "q1" => keep(s.bids.map(|b| Tup5(b.0, b.1, b.2 * 908, b.5, b.6.clone()))),
        "q2" => keep(s.bids.filter(|b| b.0 % 123 == 0).map(|b| Tup2(b.0, b.2))),
        "q3" => keep(q3(s)),
        "q4" => keep(q4(s)),
        "q5" => keep(q5(s.bids)),
        "q6" => keep(q6(s)),
        "q7" => keep(q7(s.bids)),
        "q8" => keep(q8(s)),
        "q9" => keep(q9(s)),
        "q12" => keep(s.bids.map(|b| Tup2(b.1, bin(b.5, TUMBLE))).weighted_count().map(|(k, n)| Tup3(k.0, k.1, *n))),
        "q15" => keep(ranks(s.bids, |b| bin(b.5, DAY))),
        "q16" => keep(ranks(s.bids, |b| Tup2(b.3.clone(), bin(b.5, DAY)))),
        "q17" => keep(q17(s.bids)),
        "q18" => keep(q18(s.bids)),
        "q19" => keep(q19(s.bids)),
        "q20" => keep(q20(s)),
        _ => panic!("no query {query}"),
    }
}

fn q3(s: Sources) -> Rows<Tup4<String, String, String, i64>> {
    let people = s.people.filter(|p| matches!(p.5.as_str(), "OR" | "ID" | "CA")).map_index(|p| (p.0, Tup3(p.1.clone(), p.4.clone(), p.5.clone())));
    let auctions = s.auctions.filter(|a| a.8 == 10).map_index(|a| (a.7, a.0));
    auctions.join(&people, |_, id, p| Tup4(p.0.clone(), p.1.clone(), p.2.clone(), *id))
}

fn q4(s: Sources) -> Rows<Tup2<i64, i64>> {
    let auctions = s.auctions.map_index(|a| (a.0, Tup3(a.8, a.5, a.6)));
    let bids = s.bids.map_index(|b| (b.0, Tup2(b.2, b.5)));
    let valid = auctions.join_index(&bids, |id, Tup3(category, opens, expires), Tup2(price, time)| (opens..=expires).contains(&time).then_some((Tup2(*id, *category), *price)));
    let finals = valid.aggregate(Max).map_index(|(k, price)| (k.1, *price));
    finals.aggregate_linear(|price| Tup2(*price, 1i64)).map(|(category, sum)| Tup2(*category, thousandths(sum.0, sum.1)))
}

fn thousandths(sum: i64, n: i64) -> i64 {
    sum * 1000 / n
}

fn q5(bids: Rows<BidRow>) -> Rows<Tup3<i64, i64, i64>> {
    let hops = bids.flat_map(|b| {
        let (auction, last) = (b.0, bin(b.5, HOP));
        (0..HOPS).map(move |s| Tup2(auction, last - s * HOP))
    });
    let counts = hops.weighted_count().map_index(|(k, n)| (k.1, Tup2(-*n, k.0)));
    let most = counts.topk_rank_custom_order::<Natural, _, _, _>(1, |a, b| a.0 == b.0, |_, count| count.clone());
    most.map(|(start, count)| Tup3(count.1, *start, -count.0))
}

/// The order that a row has of its own.
struct Natural;

impl<V: Ord> CmpFunc<V> for Natural {
    fn cmp(left: &V, right: &V) -> Ordering {
        left.cmp(right)
    }
}

/// The winning bid of each auction: highest, then earliest, then of the lowest bidder; with the auction's attributes.
fn winners<A: DBData>(s: Sources, attributes: impl Fn(&AuctionRow) -> A + Clone + 'static) -> Indexed<i64, Tup2<A, Tup3<i64, i64, i64>>> {
    let auctions = s.auctions.map_index(move |a| (a.0, Tup3(a.5, a.6, attributes(a))));
    let bids = s.bids.map_index(|b| (b.0, Tup3(-b.2, b.5, b.1)));
    let valid = auctions.join_index(&bids, |id, Tup3(opens, expires, _), bid| (opens..=expires).contains(&&bid.1).then(|| (*id, bid.clone())));
    valid.topk_asc(1).join_index(&auctions, |id, bid, auction| Some((*id, Tup2(auction.2.clone(), Tup3(-bid.0, bid.1, bid.2)))))
}

fn q6(s: Sources) -> Rows<Tup3<i64, i64, i64>> {
    let finals = winners(s, |a| Tup2(a.7, a.6)).map_index(|(id, Tup2(auction, bid))| (auction.0, Tup3(auction.1, *id, bid.0)));
    let all = Fold::<_, _, UnimplementedSemigroup<_>, _, _>::with_output(
        Vec::new(),
        |all: &mut Vec<Tup2<i64, i64>>, one: &Tup3<i64, i64, i64>, _: i64| all.push(Tup2(one.1, one.2)),
        averages,
    );
    finals.aggregate(all).flat_map(|(seller, all)| {
        let seller = *seller;
        all.clone().into_iter().map(move |one| Tup3(seller, one.1, one.0))
    })
}

fn averages(finals: Vec<Tup2<i64, i64>>) -> Vec<Tup2<i64, i64>> {
    let mean = |i: usize| {
        let last = &finals[i.saturating_sub(10)..=i];
        thousandths(last.iter().map(|f| f.1).sum(), last.len() as i64)
    };
    (0..finals.len()).map(|i| Tup2(finals[i].0, mean(i))).collect()
}

fn q7(bids: Rows<BidRow>) -> Rows<Tup4<i64, i64, i64, i64>> {
    let windows = bids.map_index(|b| (bin(b.5, TUMBLE), Tup4(-b.2, b.0, b.1, b.5)));
    let highest = windows.topk_rank_custom_order::<Natural, _, _, _>(1, |a, b| a.0 == b.0, |_, bid| bid.clone());
    highest.map(|(_, bid)| Tup4(bid.1, -bid.0, bid.2, bid.3))
}

fn q8(s: Sources) -> Rows<Tup3<i64, String, i64>> {
    let people = s.people.map_index(|p| (Tup2(p.0, bin(p.6, TUMBLE)), p.1.clone())).distinct();
    let sellers = s.auctions.map_index(|a| (Tup2(a.7, bin(a.5, TUMBLE)), ())).distinct();
    people.join(&sellers, |k, name, ()| Tup3(k.0, name.clone(), k.1))
}

fn q9(s: Sources) -> Rows<Tup8<i64, String, i64, i64, i64, i64, i64, i64>> {
    winners(s, |a| Tup3(a.1.clone(), a.7, a.8)).map(|(id, Tup2(auction, bid))| Tup8(*id, auction.0.clone(), auction.1, auction.2, *id, bid.2, bid.0, bid.1))
}

type Four = Tup4<i64, i64, i64, i64>;
type Ranks<K> = Tup4<K, Four, Four, Four>;

/// q15 and q16: bids, different bidders and different auctions of a key; of all bids and of each class of prices.
fn ranks<K: DBData>(bids: Rows<BidRow>, key: impl Fn(&BidRow) -> K + Clone + 'static) -> Rows<Ranks<K>> {
    let (of_bidder, of_auction) = (key.clone(), key.clone());
    let all = bids.map_index(move |b| (key(b), class(b.2))).aggregate_linear(|class| units(&[0, *class]));
    let bidders = different(bids.flat_map_index(move |b| [0, class(b.2)].map(|c| (of_bidder(b), Tup2(c, b.1)))));
    let auctions = different(bids.flat_map_index(move |b| [0, class(b.2)].map(|c| (of_auction(b), Tup2(c, b.0)))));
    let both = all.join_index(&bidders, |key, bids, bidders| Some((key.clone(), Tup2(bids.clone(), bidders.clone()))));
    both.join(&auctions, |key, Tup2(bids, bidders), auctions| Tup4(key.clone(), bids.clone(), bidders.clone(), auctions.clone()))
}

fn units(classes: &[i64]) -> Four {
    let one = |c: i64| classes.contains(&c) as i64;
    Tup4(one(0), one(1), one(2), one(3))
}

fn different<K: DBData>(rows: Indexed<K, Tup2<i64, i64>>) -> Indexed<K, Four> {
    rows.distinct().aggregate_linear(|row| units(&[row.0]))
}

fn q17(bids: Rows<BidRow>) -> Rows<Tup9<i64, i64, i64, i64, i64, i64, i64, i64, i64>> {
    let prices = bids.map_index(|b| (Tup2(b.0, bin(b.5, DAY)), b.2));
    let statistics = Fold::<_, _, UnimplementedSemigroup<_>, _, _>::new(Tup7(0i64, 0i64, 0i64, i64::MAX, i64::MIN, 0i64, 0i64), |all: &mut Tup7<i64, i64, i64, i64, i64, i64, i64>, price: &i64, times: i64| {
        all.0 += times;
        all.1 += if class(*price) == 1 { times } else { 0 };
        all.2 += if class(*price) == 3 { times } else { 0 };
        all.3 = all.3.min(*price);
        all.4 = all.4.max(*price);
        all.6 += price * times;
        all.5 = thousandths(all.6, all.0);
    });
    prices.aggregate(statistics).map(|(k, a)| Tup9(k.0, k.1, a.0, a.1, a.2, a.3, a.4, a.5, a.6 * 1000))
}

fn q18(bids: Rows<BidRow>) -> Rows<Tup5<i64, i64, i64, String, i64>> {
    let of_both = bids.map_index(|b| (Tup2(b.1, b.0), Tup3(-b.5, b.2, b.3.clone())));
    of_both.topk_asc(1).map(|(k, last)| Tup5(k.1, k.0, last.1, last.2.clone(), -last.0))
}

fn q19(bids: Rows<BidRow>) -> Rows<Tup5<i64, i64, i64, i64, i64>> {
    let of_auction = bids.map_index(|b| (b.0, Tup3(-b.2, b.5, b.1)));
    let top = of_auction.topk_row_number_custom_order::<Natural, _, _>(10, |place, bid| Tup4(bid.1, bid.0, bid.2, place));
    top.map(|(auction, Tup4(time, price, bidder, place))| Tup5(*auction, *bidder, -*price, *time, *place))
}

fn q20(s: Sources) -> Rows<Tup7<i64, i64, i64, String, String, i64, i64>> {
    let auctions = s.auctions.filter(|a| a.8 == 10).map_index(|a| (a.0, Tup3(a.1.clone(), a.7, a.8)));
    let bids = s.bids.map_index(|b| (b.0, Tup3(b.1, b.2, b.3.clone())));
    bids.join(&auctions, |auction, bid, a| Tup7(*auction, bid.0, bid.1, bid.2.clone(), a.0.clone(), a.1, a.2))
}
