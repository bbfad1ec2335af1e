//! Readers that never wait, a writer that works on a fork.
//!
//! Holds the published version and the one being written. Invariant: what
//! readers see is sealed and never changes; a fork shares everything with its
//! origin until it writes. Does not know transactions: who adopts which fork is
//! the caller's business. Cost: a fork is a few dozen pointer copies; a reader's
//! look at the published version is one atomic load.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::recall::{Hits, Request};
use crate::scratch::Scratch;
use crate::snapshot::{Snapshot, Writer};
use crate::text::Language;
use crate::tuning::Tuning;

struct Working {
    snapshot: Snapshot,
    writer: Writer,
}

/// A memory with one writer at a time and any number of readers.
pub struct Engine {
    published: ArcSwap<Snapshot>,
    working: Mutex<Working>,
    /// The working version has changes that are not published yet.
    dirty: AtomicBool,
    version: AtomicU64,
}

impl Engine {
    /// An empty memory.
    #[must_use]
    pub fn new(tuning: Arc<Tuning>, language: Language) -> Self {
        Self::from_snapshot(Snapshot::new(tuning, language), 0)
    }

    /// An engine that starts with this version.
    #[must_use]
    pub fn from_snapshot(snapshot: Snapshot, version: u64) -> Self {
        Self {
            published: ArcSwap::from_pointee(snapshot.clone()),
            working: Mutex::new(Working { snapshot, writer: Writer::default() }),
            dirty: AtomicBool::new(false),
            version: AtomicU64::new(version),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Working> {
        // A writer that unwound left whole values behind: every part is replaced or untouched.
        self.working.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The version that readers see, with this engine's own writes in it.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        if self.dirty.load(Ordering::Acquire) {
            let mut working = self.lock();
            if self.dirty.load(Ordering::Acquire) {
                working.snapshot.seal();
                self.published.store(Arc::new(working.snapshot.clone()));
                self.dirty.store(false, Ordering::Release);
            }
        }
        self.published.load_full()
    }

    /// An engine of its own that shares everything until either writes.
    #[must_use]
    pub fn fork(&self) -> Self {
        let snapshot = Snapshot::clone(&self.snapshot());
        Self::from_snapshot(snapshot, self.version())
    }

    /// Takes over a fork's version and shows it to readers.
    pub fn adopt(&self, fork: &Self) {
        let snapshot = fork.snapshot();
        let mut working = self.lock();
        working.snapshot = Snapshot::clone(&snapshot);
        self.published.store(snapshot);
        self.dirty.store(false, Ordering::Release);
        self.version.fetch_add(1, Ordering::AcqRel);
    }

    /// How often something was adopted.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Changes the working version.
    ///
    /// # Errors
    /// Those of `change`, and of a compaction that became due.
    pub fn write<T>(&self, change: impl FnOnce(&mut Snapshot, &mut Writer) -> Result<T>) -> Result<T> {
        let mut working = self.lock();
        let Working { snapshot, writer } = &mut *working;
        self.dirty.store(true, Ordering::Release);
        if snapshot.wants_compaction() {
            snapshot.compact()?;
        }
        change(snapshot, writer)
    }

    /// Folds recent changes into flat arrays. Changes no answer.
    ///
    /// # Errors
    /// [`crate::error::Error::Capacity`].
    pub fn compact(&self) -> Result<()> {
        self.write(|snapshot, _| snapshot.compact())
    }

    /// The best propositions for a query.
    #[must_use]
    pub fn recall(&self, query: &str, request: &Request) -> Hits {
        let snapshot = self.snapshot();
        let mut hits = Hits::default();
        with_scratch(|scratch| snapshot.recall(query, request, scratch, &mut hits));
        hits
    }
}

/// The process's own pool: threads do not survive a fork of the process.
fn pool() -> Result<Arc<rayon::ThreadPool>> {
    static POOL: Mutex<Option<(u32, Arc<rayon::ThreadPool>)>> = Mutex::new(None);
    let mut kept = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some((owner, pool)) = &*kept
        && *owner == process
    {
        return Ok(pool.clone());
    }
    let built = rayon::ThreadPoolBuilder::new().thread_name(|at| format!("doxa-{at}")).build();
    let pool = Arc::new(built.map_err(|problem| Error::invalid("threads", problem, "must be available"))?);
    if let Some((_, orphan)) = kept.take() {
        // Its threads stayed with the parent process; waiting for them would never end.
        std::mem::forget(orphan);
    }
    *kept = Some((process, pool.clone()));
    Ok(pool)
}

/// Answers many queries on all cores.
///
/// # Errors
/// [`Error::Invalid`] where no thread could be started.
pub fn recall_many(snapshot: &Snapshot, queries: &[String], request: &Request) -> Result<Vec<Hits>> {
    let answer = |query: &String| {
        let mut hits = Hits::default();
        with_scratch(|scratch| snapshot.recall(query, request, scratch, &mut hits));
        hits
    };
    Ok(pool()?.install(|| queries.par_iter().map(answer).collect()))
}

thread_local! {
    static SCRATCH: RefCell<Option<Box<Scratch>>> = const { RefCell::new(None) };
}

/// Runs `work` with this thread's scratch. A scratch whose work unwinds is thrown away.
pub fn with_scratch<T>(work: impl FnOnce(&mut Scratch) -> T) -> T {
    let mut scratch = SCRATCH.take().unwrap_or_default();
    let out = work(&mut scratch);
    SCRATCH.set(Some(scratch));
    out
}
