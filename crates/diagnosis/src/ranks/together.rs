//! The reserved memory of several recordings on one GPU, added up on the clock.

use super::job::JobDevice;
use oomscope_model::Bytes;

/// Most reserved memory of several recordings together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Together {
    /// The first time at which most is reserved, in microseconds since 1970.
    pub time_us: i64,
    /// Reserved bytes of all of them then.
    pub bytes: Bytes,
    /// Those of each.
    pub shares: Vec<Bytes>,
    /// The time in which all of them were recorded, in microseconds since 1970.
    pub within_us: [i64; 2],
}

/// The peak of the sum, while all were recorded. `None` if their recordings do not overlap, or lack times.
///
/// Before the first event of a recording and after its last nothing is known of it, so that time is left out.
pub fn together(rows: &[JobDevice<'_>]) -> Option<Together> {
    let spans: Option<Vec<[i64; 2]>> = rows.iter().map(|row| row.device.time_us).collect();
    let spans = spans.filter(|spans| !spans.is_empty())?;
    let from = spans.iter().map(|span| span[0]).max()?;
    let to = spans.iter().map(|span| span[1]).min()?;
    if to < from || rows.iter().any(|row| row.device.reserved.is_empty()) {
        return None;
    }
    // Of every recording, its changes as time, row and bytes; those before the common time count at its start.
    let mut changes: Vec<(i64, usize, Bytes)> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let all = row.device.reserved.iter().take_while(|(time_us, _)| *time_us <= to);
        changes.extend(all.map(|&(time_us, bytes)| (time_us.max(from), at, bytes)));
    }
    // Stable: the changes of one recording stay in their order.
    changes.sort_by_key(|change| change.0);
    let mut now = vec![Bytes::ZERO; rows.len()];
    let mut sum = Bytes::ZERO;
    let mut most = Together { time_us: from, bytes: Bytes::MIN, shares: Vec::new(), within_us: [from, to] };
    for (at, &(time_us, row, bytes)) in changes.iter().enumerate() {
        sum = (sum - now[row]) + bytes;
        now[row] = bytes;
        // At one time, only the state after all of its changes is one.
        let is_state = changes.get(at + 1).is_none_or(|next| next.0 != time_us);
        if is_state && most.bytes < sum {
            most = Together { time_us, bytes: sum, shares: now.clone(), ..most };
        }
    }
    Some(most)
}
