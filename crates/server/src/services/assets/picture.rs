//! Small pictures of large ones. A picture says how large it is before it is unpacked; one that would fill the memory is
//! not unpacked at all, and has no small one.

use std::io::Cursor;

use chorus_core::model::asset::Media;
use image::codecs::jpeg::JpegEncoder;
use image::{ImageFormat, ImageReader, Limits};

/// Most pixels that are unpacked: four of a large screen.
const PIXELS: u64 = 16 * 1024 * 1024;
/// Most memory that unpacking may take, in bytes: those pixels.
const MEMORY: u64 = 80 * 1024 * 1024;
/// Longest side of a small picture.
const SIDE: u32 = 320;
/// Of JPEG, in hundredths.
const QUALITY: u8 = 80;

/// The small picture as JPEG; none for what cannot be read as what it is.
pub(crate) fn thumbnail(media: Media, data: &[u8]) -> Option<Vec<u8>> {
    let format = match media {
        Media::Png => ImageFormat::Png,
        Media::Jpeg => ImageFormat::Jpeg,
        Media::Gif => ImageFormat::Gif,
        Media::Webp => ImageFormat::WebP,
        _ => return None,
    };
    let (width, height) =
        ImageReader::with_format(Cursor::new(data), format).into_dimensions().ok()?;
    if u64::from(width) * u64::from(height) > PIXELS {
        return None;
    }
    let mut reader = ImageReader::with_format(Cursor::new(data), format);
    let mut limits = Limits::default();
    limits.max_alloc = Some(MEMORY);
    reader.limits(limits);
    let small = reader.decode().ok()?.thumbnail(SIDE, SIDE).to_rgb8();
    let mut out = Vec::new();
    JpegEncoder::new_with_quality(&mut out, QUALITY).encode_image(&small).ok()?;
    Some(out)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use image::RgbImage;

    use super::*;

    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut out = Cursor::new(Vec::new());
        RgbImage::new(width, height).write_to(&mut out, ImageFormat::Png).unwrap();
        out.into_inner()
    }

    // covers: CHN-146
    #[test]
    fn a_picture_has_a_small_one_unless_it_would_fill_the_memory() {
        let small = thumbnail(Media::Png, &png(640, 480)).unwrap();
        let (width, height) = ImageReader::with_format(Cursor::new(&small), ImageFormat::Jpeg)
            .into_dimensions()
            .unwrap();
        assert_eq!((width, height), (320, 240));
        // It says that it is enormous: nothing of it is unpacked.
        let mut bomb = png(64, 64);
        bomb[16..24].copy_from_slice(&[0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff]);
        assert_eq!(thumbnail(Media::Png, &bomb), None);
        assert_eq!(thumbnail(Media::Png, b"\x89PNG\r\n\x1a\nand then nothing"), None);
        assert_eq!(thumbnail(Media::Pdf, b"%PDF-"), None);
    }
}
