//! A warm query allocates nothing: a counting allocator says so.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

use doxa_core::recall::{Hits, Request};
use doxa_core::scratch::Scratch;
use doxa_core::snapshot::{Snapshot, Text, Writer};
use doxa_core::text::Language;
use doxa_core::tuning::{Constants, Relevance, Tuning};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: hands every call on to the system's allocator; counting touches no memory of its own.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promises are handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are handed on.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn memory() -> Snapshot {
    let mut snapshot = Snapshot::new(Arc::new(Tuning::default()), Language::English);
    let mut writer = Writer::default();
    for number in 0..500u32 {
        let node = snapshot.add_node(&format!("n{number}"), 0, 0).unwrap();
        let title = format!("river {} port {}", number % 7, number % 11);
        let summary = format!("boats of {}", number % 13);
        let text = Text { title: &title, summary: &summary, ..Text::default() };
        snapshot.set_text(node, &text, &mut writer).unwrap();
        if number > 0 {
            snapshot.add_link(node, number / 2, 0, 1.0).unwrap();
        }
        if number == 400 {
            // The rest stays in the delta.
            snapshot.compact().unwrap();
        }
    }
    let ada = snapshot.add_node("ada", 3, 0).unwrap();
    snapshot.set_names(ada, &["Ada"], &mut writer).unwrap();
    snapshot.add_link(3, ada, 5, 1.0).unwrap();
    snapshot.seal();
    snapshot
}

#[test]
fn a_warm_query_allocates_nothing() {
    let snapshot = memory();
    let (mut scratch, mut hits) = (Scratch::new(), Hits::default());
    for relevance in [Relevance::Bm25, Relevance::Count] {
        let tuning = Arc::new(Tuning::new(Constants { relevance, ..Constants::default() }).unwrap());
        let request = Request { k: 10, now: 0, tuning, filter: Arc::default(), spread: true };
        for query in ["river 3 port", "boats of Ada", "nothing known", ""] {
            for _ in 0..2 {
                snapshot.recall(query, &request, &mut scratch, &mut hits);
            }
            let before = ALLOCATIONS.get();
            snapshot.recall(query, &request, &mut scratch, &mut hits);
            assert_eq!(ALLOCATIONS.get() - before, 0, "{query:?} {relevance:?}");
        }
    }
}
