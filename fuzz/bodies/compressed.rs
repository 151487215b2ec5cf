//! Any bytes behind the first bytes of each compression, besides the ones that they have.

use super::load;

const MAGICS: [&[u8]; 3] =
    [b"\x1f\x8b\x08\0\0\0\0\0\0\xff", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\0\0\x04\xe6\xd6\xb4\x46"];

pub(crate) fn body(bytes: &[u8]) {
    load::body(bytes);
    let rest = bytes.get(10..).unwrap_or_default();
    let magic = MAGICS[bytes.len() % MAGICS.len()];
    load::body(&[magic, rest].concat());
}
