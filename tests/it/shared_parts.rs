//! Pickles whose parts are used more than once, or lie where nothing tells that they are not whole.

use super::support::load_bytes;
use oomscope_model::{Anchor, DeviceId};
use serde_json::{Value, json};
use serde_pickle::SerOptions;

/// A pickle without memo, lists in batches of a thousand.
fn pickle(value: &Value) -> Vec<u8> {
    serde_pickle::to_vec(value, SerOptions::new()).expect("JSON values can be pickled")
}

#[test]
fn a_trace_that_two_devices_share_is_read_for_both() {
    let event: &[u8] =
        b"}\x94(\x8c\x06action\x8c\x05alloc\x8c\x04addrK\x10\x8c\x04sizeK\x08\x8c\x06streamK\x00u";
    let snapshot = [
        b"\x80\x04}\x94(\x8c\x08segments]\x94\x8c\x0ddevice_traces]\x94(]\x94(".as_slice(),
        event,
        b"eh\x03eu.",
    ]
    .concat();
    let snapshot = load_bytes(&snapshot).expect("the snapshot loads");
    let devices: Vec<(DeviceId, usize)> =
        snapshot.timelines.iter().map(|timeline| (timeline.device, timeline.events.len())).collect();
    assert_eq!(devices, [(DeviceId(0), 1), (DeviceId(1), 1)]);
}

#[test]
fn tables_of_tables_do_not_multiply() {
    // Each of four dicts has forty keys whose values are the dict before it.
    let mut snapshot = b"\x80\x04}\x94(\x8c\x08segments]\x94\x8c\x12allocator_settings".to_vec();
    let mut table = b"}\x94(\x8c\x01xK\x01u".to_vec();
    for depth in 0..4u8 {
        let mut outer = b"}\x94(".to_vec();
        for key in b'0'..b'X' {
            outer.extend([0x8c, 1, key]);
            // The first value is the table itself, all others refer to it.
            if key == b'0' {
                outer.extend(&table);
            } else {
                outer.extend([b'h', 5 - depth]);
            }
        }
        outer.push(b'u');
        table = outer;
    }
    snapshot.extend(table);
    snapshot.extend(b"u.");
    let snapshot = load_bytes(&snapshot).expect("the snapshot loads");
    assert!(!snapshot.settings.is_empty() && snapshot.settings.len() <= 2000);
}

#[test]
fn a_snapshot_with_a_key_of_other_records_is_a_snapshot() {
    let snapshot = json!({"action": "alloc", "segments": [], "device_traces": []});
    let snapshot = load_bytes(&pickle(&snapshot)).expect("the snapshot loads");
    let unknown: Vec<&str> = snapshot.unknown_keys.iter().map(|unknown| unknown.key.as_str()).collect();
    assert_eq!(unknown, ["action"]);
}

#[test]
fn a_cut_between_two_batches_of_a_trace_is_a_cut_inside_it() {
    let event = |i: u64| json!({"action": "alloc", "addr": 512 * i, "size": 100, "stream": 0, "time_us": i});
    let block =
        |i: u64| json!({"address": 512 * i, "size": 512, "requested_size": 100, "state": "active_allocated"});
    let blocks: Vec<Value> = (0..2001).map(block).collect();
    let events: Vec<Value> = (0..2001).map(event).collect();
    let segment = json!({"device": 0, "address": 0, "total_size": 512 * 2001, "stream": 0, "blocks": blocks});
    let segments = pickle(&json!({"segments": [segment], "device_traces": []}));
    // serde-pickle sorts keys: the trace would come first, so the two halves are put together here.
    let trace = pickle(&json!([events]));
    let key: &[u8] = b"X\x0d\x00\x00\x00device_traces";
    let ordered = without(&segments, key).expect("the key is there");
    let whole = [&ordered[..], key, &trace[2..trace.len() - 1], b"u."].concat();
    let first_event = ordered.len() + key.len();
    assert_eq!(load_bytes(&whole).expect("the whole file loads").timelines[0].initial_live_blocks, 0);
    let ends = (first_event..whole.len() - 1).filter(|&i| &whole[i..i + 2] == b"e(");
    let cuts: Vec<usize> = ends.flat_map(|end| end - 1..end + 4).collect();
    assert!(10 <= cuts.len(), "the trace has batches");
    for cut in cuts {
        let timeline = &load_bytes(&whole[..cut]).expect("the start loads").timelines[0];
        assert_eq!((timeline.anchor, timeline.initial_live_blocks), (Anchor::TraceOnly, 0), "cut at {cut}");
    }
}

/// The pickle of a dict without the pair of this key, up to where its next pair would start.
fn without(dict: &[u8], key: &[u8]) -> Option<Vec<u8>> {
    let at = dict.windows(key.len()).position(|window| window == key)?;
    let value_len = dict[at + key.len()..].iter().position(|&byte| byte == b'X' || byte == b'u')?;
    let mut rest = [&dict[..at], &dict[at + key.len() + value_len..]].concat();
    rest.truncate(rest.len() - 2);
    Some(rest)
}
