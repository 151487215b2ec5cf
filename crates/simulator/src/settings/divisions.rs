//! `roundup_power2_divisions` as text: one number, or sizes with numbers.

use std::fmt::Write as _;

/// Size classes of `roundup_power2_divisions`: 1 MiB and less, 2 MiB, … 32 GiB and more.
pub(super) const CLASSES: usize = 16;

/// Read `4`, or `[256:1,512:2,>:8]`. A class that the list leaves out below its first size has the number of that
/// size; one that it leaves out elsewhere is off.
pub(super) fn parse(text: &str) -> Option<[u32; CLASSES]> {
    let number = |text: &str| {
        let n: u32 = text.trim().parse().ok()?;
        (n == 0 || n.is_power_of_two()).then_some(n)
    };
    let Some(list) = text.strip_prefix('[') else { return number(text).map(|n| [n; CLASSES]) };
    let mut table = [0; CLASSES];
    let mut last = None;
    for entry in list.strip_suffix(']')?.split(',') {
        let (size, divisions) = entry.split_once(':')?;
        let divisions = number(divisions)?;
        if size.trim() == ">" {
            table[last.map_or(0, |last: usize| last + 1)..].fill(divisions);
            continue;
        }
        let megabytes: u64 = size.trim().parse().ok().filter(|size: &u64| size.is_power_of_two())?;
        let class = (megabytes.ilog2() as usize).min(CLASSES - 1);
        if last.is_none() {
            table[..class].fill(divisions);
        }
        table[class] = divisions;
        last = Some(class);
    }
    Some(table)
}

/// The shortest text that [`parse`] reads as the table.
pub(super) fn text(table: &[u32; CLASSES]) -> String {
    let (first, rest) = (table[0], table[CLASSES - 1]);
    let lead = table.iter().take_while(|&&divisions| divisions == first).count();
    if lead == CLASSES {
        return first.to_string();
    }
    let tail = table.iter().rev().take_while(|&&divisions| divisions == rest).count();
    let mut text = format!("[{}:{first}", 1u64 << (lead - 1));
    let listed = (lead..CLASSES - tail).filter(|&class| table[class] != 0);
    let mut last = lead - 1;
    for class in listed {
        write!(text, ",{}:{}", 1u64 << class, table[class]).ok();
        last = class;
    }
    if rest != 0 {
        // `>` starts behind the last size that is listed.
        if last + 1 < CLASSES - tail {
            write!(text, ",{}:0", 1u64 << (CLASSES - tail - 1)).ok();
        }
        write!(text, ",>:{rest}").ok();
    }
    text.push(']');
    text
}

#[cfg(test)]
mod tests {
    use super::{parse, text};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_table_can_be_written(table in proptest::array::uniform16(prop_oneof![Just(0u32), Just(1), Just(2), Just(8)])) {
            prop_assert_eq!(parse(&text(&table)), Some(table));
        }
    }
}
