//! By pool.

use super::key::{Colored, Key, KeyRow};
use super::sorted::Sorted;
use crate::color::color_by::{ColorBy, ColorKey};
use crate::color::palette::Rgb;
use oomscope_model::{PoolKey, Timeline};
use std::sync::Arc;

pub(super) const KEY: KeyRow = KeyRow {
    by: ColorBy::Pool,
    name: "pool",
    of: |timeline, _, palette| Arc::new(ByPool(Sorted::new(timeline.pools(), palette))),
};

#[derive(Debug)]
struct ByPool(Sorted<PoolKey>);

impl Key for ByPool {
    fn class_count(&self) -> usize {
        Sorted::<PoolKey>::CLASSES
    }

    fn class(&self, of: &Colored<'_>) -> u8 {
        self.0.class(of.pool())
    }

    fn class_color(&self, class: usize) -> Rgb {
        self.0.color(class)
    }

    fn legend(&self, _timeline: &Timeline) -> Vec<ColorKey> {
        self.0.legend(|pool| match pool {
            PoolKey(a, b) if pool.is_private() => (format!("private pool {a}.{b}"), format!("pool:{a}.{b}")),
            _ => ("default pool".to_owned(), "pool:default".to_owned()),
        })
    }
}
