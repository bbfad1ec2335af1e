//! The flat match: which propositions do the query's terms hit, and how well?
//!
//! Holds the walk over posting lists, a window of documents at a time, so that
//! the accumulators stay in the innermost caches. Invariant: a document's
//! relevance is summed in the order of the query's terms, wherever its postings
//! lie. Does not know what follows from a hit; it hands each to a closure.
//! Cost: linear in the postings of the query's terms.

use bytemuck::Zeroable;

use crate::codes::{FIELDS, STEM};
use crate::columns::Columns;
use crate::limits::WINDOW;
use crate::postings::{Posting, Postings, unpack};
use crate::query::QueryTerm;
use crate::scratch::{Hit, Scratch, Window};
use crate::tuning::{NAMED_ENTITY, Relevance, Tuning};

/// What was summed for one document of the window.
#[derive(Debug, Clone, Copy, Default, Zeroable)]
pub(crate) struct Cell {
    relevance: f32,
    /// 1: touched; 2: title or summary was hit.
    mark: u32,
}

/// Marks a hit whose title or summary was hit.
pub(crate) const STRONG: u32 = 1 << 31;
const MASK: u32 = WINDOW - 1;

/// BM25's saturation, the same for all terms.
struct Saturation {
    /// k1 b / avgL by posting code.
    slope: [f32; 16],
    /// k1 (1 - b).
    floor: f32,
    /// k1 + 1.
    top: f32,
}

impl Saturation {
    fn new(tuning: &Tuning, postings: &Postings) -> Self {
        let given = tuning.given();
        let mut slope = [0.0; 16];
        for field in 0..FIELDS {
            slope[field] = (given.k1 * given.b / postings.statistics().mean_length(field)) as f32;
            slope[field | STEM as usize] = slope[field];
        }
        Self { slope, floor: (given.k1 * (1.0 - given.b)) as f32, top: (given.k1 + 1.0) as f32 }
    }
}

/// Weights of one query term by posting code.
pub(crate) struct Weights {
    field: [f32; 16],
    mark: [u32; 16],
}

impl Weights {
    fn new(tuning: &Tuning, term: &QueryTerm) -> Self {
        let mut out = Self { field: [0.0; 16], mark: [0; 16] };
        for code in 0..16 {
            let from = if term.stem { code | STEM as usize } else { code };
            out.field[code] = tuning.field[from] * term.weight;
            out.mark[code] = 1 | if tuning.seeds[from] && out.field[code] > 0.0 { 2 } else { 0 };
        }
        out
    }

    #[inline(always)]
    fn saturated(&self, by: &Saturation, payload: u32) -> f32 {
        let (code, length, frequency) = unpack(payload);
        let tf = frequency as f32;
        let code = code as usize;
        self.field[code] * (tf * by.top / (tf + by.floor + by.slope[code] * length as f32))
    }
}

/// What a hit's relevance must come to before anything is read of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gate {
    pub alpha: f32,
    /// The most that strength can add.
    pub margin: f32,
}

/// Cells and list of touched cells of one window, of fixed size so that no index needs a check.
/// Made on the heap: 128 KiB are too much for a stack.
#[derive(Clone, Copy, Zeroable)]
pub(crate) struct Table {
    cells: [Cell; WINDOW as usize],
    touched: [u32; 2 * WINDOW as usize],
}

/// The window under work.
struct Pool<'a> {
    table: &'a mut Table,
    len: usize,
    first: u32,
}

impl Pool<'_> {
    /// Adds the postings up to the window's end; gives how many were read.
    #[inline(always)]
    fn pour(
        &mut self,
        list: &[Posting],
        marks: &[u32; 16],
        live: impl Fn(u32) -> bool,
        score: impl Fn(u32) -> f32,
    ) -> usize {
        let end = self.first.saturating_add(WINDOW);
        let read = if list.last().is_some_and(|posting| posting.doc < end) {
            list.len()
        } else {
            list.partition_point(|posting| posting.doc < end)
        };
        let Table { cells, touched } = &mut *self.table;
        let (mut last, mut best, mut len) = (u32::MAX, 0.0f32, self.len);
        for posting in &list[..read] {
            if !live(posting.doc) {
                continue;
            }
            // Of one document's fields the best one counts: add what exceeds
            // the best so far. No branch, the fields of a document come together.
            let earlier = if posting.doc == last { best } else { 0.0 };
            best = score(posting.payload).max(earlier);
            last = posting.doc;
            let at = posting.doc.wrapping_sub(self.first) & MASK;
            let cell = &mut cells[at as usize];
            touched[len & (2 * WINDOW as usize - 1)] = at;
            len += usize::from(cell.mark == 0);
            cell.relevance += best - earlier;
            cell.mark |= marks[(posting.payload >> 28) as usize];
        }
        self.len = len;
        read
    }
}

/// Runs the query's terms over all postings. `see` gets each hit that passes the gate, whose floor
/// is `scratch.floor` and may rise: node, relevance and whether title or summary was hit.
pub(crate) fn run(
    (postings, columns): (&Postings, &Columns),
    tuning: &Tuning,
    scratch: &mut Scratch,
    gate: Gate,
    mut see: impl FnMut(&mut Scratch, Hit),
) {
    scratch.hits.clear();
    scratch.windows.clear();
    scratch.weights.clear();
    for term in &scratch.query.terms {
        scratch.weights.push(Weights::new(tuning, term));
    }
    sweep::<false>((postings, columns), tuning, scratch, gate, &mut see);
    scratch.recent_from = scratch.windows.len();
    if postings.has_recent() {
        sweep::<true>((postings, columns), tuning, scratch, gate, &mut see);
    }
}

/// The lists of a term: the base's one, or one of the recent ones.
fn lists<const RECENT: bool>(postings: &Postings, term: u32) -> impl Iterator<Item = &[Posting]> {
    let base = (!RECENT).then(|| postings.base_list(term));
    let recent = RECENT.then(|| postings.recent_lists(term)).into_iter().flatten();
    base.into_iter().chain(recent)
}

/// One pass over the base (by document) or over what is recent (by slot).
fn sweep<const RECENT: bool>(
    (postings, columns): (&Postings, &Columns),
    tuning: &Tuning,
    scratch: &mut Scratch,
    gate: Gate,
    see: &mut impl FnMut(&mut Scratch, Hit),
) {
    let mut table = std::mem::take(&mut scratch.table).unwrap_or_else(bytemuck::zeroed_box);
    let how = How {
        saturation: Saturation::new(tuning, postings),
        counting: tuning.given().relevance == Relevance::Count,
        stale: !RECENT && postings.any_stale(),
    };
    scratch.cursors.clear();
    for term in &scratch.query.terms {
        if let Some(term) = term.term {
            scratch.cursors.extend(lists::<RECENT>(postings, term).map(|_| 0));
        }
    }
    while let Some(first) = next_document::<RECENT>(postings, scratch) {
        let mut pool = Pool { table: &mut table, len: 0, first };
        pour_all::<RECENT>(postings, &how, scratch, &mut pool);
        let (len, start) = (pool.len, scratch.hits.len());
        scratch.windows.push(Window { start: start as u32, first });
        let Table { cells, touched } = &mut *table;
        let hits = touched[..len].iter().map(|&at| {
            let cell = std::mem::take(&mut cells[(at & MASK) as usize]);
            Hit { key: (first + at) | (cell.mark & 2) << 30, relevance: cell.relevance }
        });
        scratch.hits.extend(hits);
        finish::<RECENT>(postings, scratch, start);
        let passes =
            |hit: Hit, floor: f32| gate.alpha * hit.relevance + gate.margin >= floor && hit.relevance > 0.0;
        // First all that may count, so that what is read of them comes from memory together.
        let Scratch { hits, picked, floor, .. } = scratch;
        picked.clear();
        for hit in hits[start..].iter().filter(|hit| passes(**hit, *floor)) {
            columns.fetch_hot(hit.node());
            picked.push(*hit);
        }
        for at in 0..scratch.picked.len() {
            let hit = scratch.picked[at];
            if passes(hit, scratch.floor) {
                see(scratch, hit);
            }
        }
    }
    scratch.table = Some(table);
}

/// From slots to nodes; what is about the one entity named weighs more.
fn finish<const RECENT: bool>(postings: &Postings, scratch: &mut Scratch, start: usize) {
    let Scratch { hits, favourites, favoured, .. } = scratch;
    if RECENT {
        for hit in &mut hits[start..] {
            match postings.document(hit.key & !STRONG) {
                Some(node) => hit.key = node | hit.key & STRONG,
                None => *hit = Hit { key: 0, relevance: 0.0 },
            }
        }
    }
    if !favourites.is_empty() {
        for hit in &mut hits[start..] {
            if favoured[(hit.key & !STRONG) as usize >> 6] >> (hit.key & 63) & 1 == 1 {
                hit.relevance *= NAMED_ENTITY as f32;
            }
        }
    }
}

/// The first document that is still to be read.
fn next_document<const RECENT: bool>(postings: &Postings, scratch: &Scratch) -> Option<u32> {
    let mut cursors = scratch.cursors.iter();
    let mut first = None;
    for term in scratch.query.terms.iter().filter_map(|term| term.term) {
        for (list, &at) in lists::<RECENT>(postings, term).zip(cursors.by_ref()) {
            if let Some(posting) = list.get(at) {
                first = Some(first.map_or(posting.doc, |doc: u32| doc.min(posting.doc)));
            }
        }
    }
    first
}

/// What decides which loop runs.
struct How {
    saturation: Saturation,
    counting: bool,
    /// Some of the base's postings no longer count.
    stale: bool,
}

fn pour_all<const RECENT: bool>(postings: &Postings, how: &How, scratch: &mut Scratch, pool: &mut Pool<'_>) {
    let Scratch { cursors, query, weights, .. } = scratch;
    let mut cursors = cursors.iter_mut();
    for (query_term, weights) in query.terms.iter().zip(weights.iter()) {
        let Some(term) = query_term.term else { continue };
        for list in lists::<RECENT>(postings, term) {
            let Some(at) = cursors.next() else { return };
            let rest = &list[*at..];
            let live = |doc| !postings.is_stale(doc);
            let (field, marks) = (&weights.field, &weights.mark);
            let count = |payload: u32| field[(payload >> 28) as usize];
            let saturated = |payload: u32| weights.saturated(&how.saturation, payload);
            *at += match (how.counting, how.stale) {
                (true, false) => pool.pour(rest, marks, |_| true, count),
                (true, true) => pool.pour(rest, marks, live, count),
                (false, false) => pool.pour(rest, marks, |_| true, saturated),
                (false, true) => pool.pour(rest, marks, live, saturated),
            };
        }
    }
}

/// Looks a node up among the hits: its relevance.
///
/// The first look-up marks all hits, since nearly all nodes that are asked for are none;
/// [`forget`] takes the marks back.
pub(crate) fn relevance(postings: &Postings, scratch: &mut Scratch, node: u32) -> Option<f32> {
    let Scratch { hits, marked, marks, .. } = scratch;
    if !*marked {
        hits.iter().for_each(|hit| marks[(hit.key & !STRONG) as usize >> 6] |= 1 << (hit.key & 63));
        *marked = true;
    }
    if scratch.marks[node as usize >> 6] >> (node & 63) & 1 == 0 {
        return None;
    }
    let (windows, place) = match postings.slot(node) {
        Some(slot) => (scratch.recent_from..scratch.windows.len(), slot),
        None => (0..scratch.recent_from, node),
    };
    let offset = windows.start;
    let windows = &scratch.windows[windows];
    let at = windows.partition_point(|window| window.first <= place).checked_sub(1)?;
    let start = windows[at].start as usize;
    let end = scratch.windows.get(offset + at + 1).map_or(scratch.hits.len(), |next| next.start as usize);
    let found = |hit: &&Hit| hit.key & !STRONG == node && hit.relevance > 0.0;
    scratch.hits[start..end].iter().find(found).map(|hit| hit.relevance)
}

/// Takes back what look-ups marked.
pub(crate) fn forget(scratch: &mut Scratch) {
    if std::mem::take(&mut scratch.marked) {
        let Scratch { hits, marks, .. } = scratch;
        hits.iter().for_each(|hit| marks[(hit.key & !STRONG) as usize >> 6] = 0);
    }
}
