//! Addresses as dense ids, so that following an address through a trace is an array access.

use super::AddrId;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher as _;

/// Every distinct address of a trace once. Allocators reuse addresses, so there are few.
#[derive(Debug, Default)]
pub(super) struct AddressTable {
    addresses: Vec<u64>,
    lookup: HashTable<u32>,
    hasher: RandomState,
}

impl AddressTable {
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

    #[inline]
    pub(super) fn get(&self, id: AddrId) -> u64 {
        self.addresses[id.index()]
    }

    pub(super) fn held_bytes(&self) -> usize {
        size_of_val(&*self.addresses) + self.lookup.allocation_size()
    }

    pub(super) fn len(&self) -> usize {
        self.addresses.len()
    }
}
