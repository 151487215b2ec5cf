//! Pictures as PNG files.

use crate::software::Pixels;
use png::{BitDepth, ColorType, Compression, Encoder, EncodingError};

/// A picture as a PNG file. The same picture gives the same bytes.
///
/// # Errors
///
/// If the picture has no pixels.
pub fn png(pixels: &Pixels) -> Result<Vec<u8>, EncodingError> {
    let [width, height] = pixels.size.map(|side| side as u32);
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, width, height);
    // All pixels are opaque.
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::Balanced);
    encoder
        .add_text_chunk("Software".to_owned(), concat!("oomscope ", env!("CARGO_PKG_VERSION")).to_owned())?;
    let mut writer = encoder.write_header()?;
    let (colors, _) = pixels.rgba.as_chunks::<4>();
    let rgb: Vec<u8> = colors.iter().flat_map(|&[r, g, b, _]| [r, g, b]).collect();
    writer.write_image_data(&rgb)?;
    writer.finish()?;
    Ok(file)
}
