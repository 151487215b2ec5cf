//! Any bytes as a page, and as what stands in the place of torch's base64 text.

use super::load;

pub(crate) fn body(bytes: &[u8]) {
    load::body(&[b"<", bytes].concat());
    load::body(&[b"<script>const f = [{\"name\": \"s\", \"base64\": \"", bytes].concat());
}
