//! What colours can show of allocations: each file has one property, with its row of [`KEYS`].

mod age;
mod allocation;
mod category;
mod key;
mod pool;
mod size;
mod sorted;
mod stack;
mod stream;

pub(super) use category::ByCategory;
pub(super) use key::{Colored, Key, KeyRow};

/// All properties, in the order in which they are offered and declared.
pub(super) const KEYS: [KeyRow; 7] =
    [stack::KEY, allocation::KEY, size::KEY, age::KEY, stream::KEY, pool::KEY, category::KEY];

#[test]
fn rows_are_in_the_order_of_their_declaration() {
    assert_eq!(KEYS.map(|row| row.by as usize), [0, 1, 2, 3, 4, 5, 6]);
}
