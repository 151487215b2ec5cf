//! Addresses as dense ids, so that following an address through a trace is an array access.

use super::AddrId;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher as _;

/// Every distinct address of a trace once, by id from 0. Allocators reuse addresses, so there are far
/// fewer addresses than events.
#[derive(Debug, Default, Clone)]
pub(super) struct AddressTable {
    addresses: Vec<u64>,
    /// Ids by hash. The addresses themselves are only in `addresses`.
    lookup: HashTable<u32>,
    /// Seeded per table, so that a file cannot be built to make every lookup collide.
    hasher: RandomState,
}

impl AddressTable {
    /// The id of an address, added if it is new.
    #[inline]
    pub(super) fn intern(&mut self, address: u64) -> AddrId {
        let hash = self.hasher.hash_one(address);
        let addresses = &self.addresses;
        if let Some(&id) = self.lookup.find(hash, |&id| addresses[id as usize] == address) {
            return AddrId(id);
        }
        let id = self.addresses.len() as u32;
        self.addresses.push(address);
        let (addresses, hasher) = (&self.addresses, &self.hasher);
        self.lookup.insert_unique(hash, id, |&id| hasher.hash_one(addresses[id as usize]));
        AddrId(id)
    }

    /// Forget all addresses, and keep the room that they had.
    pub(super) fn clear(&mut self) {
        self.addresses.clear();
        self.lookup.clear();
    }

    /// The address of an id.
    #[inline]
    pub(super) fn get(&self, id: AddrId) -> u64 {
        self.addresses[id.index()]
    }

    /// All addresses, by id.
    pub(super) fn all(&self) -> &[u64] {
        &self.addresses
    }

    /// Bytes of memory that the table takes.
    pub(super) fn held_bytes(&self) -> usize {
        size_of_val(&*self.addresses) + self.lookup.allocation_size()
    }

    /// Number of distinct addresses.
    pub(super) fn len(&self) -> usize {
        self.addresses.len()
    }
}
