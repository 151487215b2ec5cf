//! Pictures from egui to the file.

use super::*;
use egui::{Align2, Color32, FontId, pos2, vec2};

fn sheet(palette: &Palette, scale: f32) -> PictureSheet<'_> {
    PictureSheet { size: vec2(320.0, 120.0), scale, palette }
}

fn hello(sheet: &PictureSheet<'_>) -> Pixels {
    sheet.paint(|ui| {
        let color = Color32::from(sheet.palette.text);
        ui.painter().text(pos2(20.0, 20.0), Align2::LEFT_TOP, "2.63 GiB", FontId::proportional(20.0), color);
        ui.painter().circle_filled(pos2(250.0, 60.0), 30.0, Color32::from(sheet.palette.accent));
    })
}

/// How many pixels of an area are not the ground.
fn inked(pixels: &Pixels, palette: &Palette, columns: [usize; 2], rows: [usize; 2]) -> usize {
    let ground = [palette.window.0, palette.window.1, palette.window.2, 255];
    let all = (rows[0]..rows[1]).flat_map(|y| (columns[0]..columns[1]).map(move |x| (x, y)));
    all.filter(|&(x, y)| pixels.get(x, y) != Some(ground)).count()
}

#[test]
fn text_and_shapes_are_painted_where_they_belong() {
    for palette in [&Palette::DARK, &Palette::LIGHT] {
        let pixels = hello(&sheet(palette, 1.0));
        assert_eq!(pixels.size, [320, 120]);
        let text = inked(&pixels, palette, [20, 120], [20, 46]);
        assert!((300..1300).contains(&text), "{text} pixels of text");
        let disc = inked(&pixels, palette, [219, 281], [29, 91]) as f32;
        let expected = std::f32::consts::PI * 30.0 * 30.0;
        assert!((disc / expected - 1.0).abs() < 0.06, "{disc} pixels of the disc");
        assert_eq!(inked(&pixels, palette, [0, 320], [100, 120]), 0);
    }
}

#[test]
fn twice_the_scale_is_the_same_picture_in_more_detail() {
    let (once, twice) = (hello(&sheet(&Palette::DARK, 1.0)), hello(&sheet(&Palette::DARK, 2.0)));
    assert_eq!(twice.size, [640, 240]);
    let count = |pixels: &Pixels, scale: usize| {
        inked(pixels, &Palette::DARK, [215 * scale, 285 * scale], [25 * scale, 95 * scale]) as f32
    };
    assert!((count(&twice, 2) / count(&once, 1) / 4.0 - 1.0).abs() < 0.05);
}

#[test]
fn the_same_picture_is_the_same_file() {
    let file = || png(&hello(&sheet(&Palette::LIGHT, 1.5))).expect("a picture has pixels");
    let first = file();
    assert_eq!(first, file());
    let mut reader = ::png::Decoder::new(std::io::Cursor::new(&first)).read_info().expect("a PNG");
    let mut rgb = vec![0; reader.output_buffer_size().expect("a small picture")];
    let info = reader.next_frame(&mut rgb).expect("a whole PNG");
    assert_eq!((info.width, info.height), (480, 180));
    let pixels = hello(&sheet(&Palette::LIGHT, 1.5));
    let painted: Vec<u8> = pixels.rgba.chunks_exact(4).flat_map(|p| p[..3].to_vec()).collect();
    assert_eq!(rgb, painted);
}

#[test]
fn no_pixels_are_no_picture() {
    assert!(png(&Pixels { size: [0, 0], rgba: Vec::new() }).is_err());
}

#[test]
fn captions_end_above_what_they_caption_and_are_cut_where_too_long() {
    let caption = Caption {
        title: "a title that is much too long for a picture of this size ".repeat(4),
        headline: "what happened".to_owned(),
        lines: vec!["one line".to_owned(), "a long line ".repeat(60), "no room".to_owned()],
    };
    let sheet = sheet(&Palette::DARK, 1.0);
    let mut end = 0.0;
    let pixels = sheet.paint(|ui| {
        let room = Rect::from_min_size(pos2(10.0, 10.0), vec2(200.0, 110.0));
        end = caption.paint(ui.painter(), room, sheet.palette);
    });
    assert!((70.0..120.0).contains(&end), "{end}");
    assert!(500 < inked(&pixels, sheet.palette, [10, 210], [10, end as usize]));
    assert_eq!(inked(&pixels, sheet.palette, [212, 320], [0, 120]), 0);
    assert_eq!(inked(&pixels, sheet.palette, [0, 320], [end as usize, 120]), 0);
}

#[test]
fn legends_wrap_into_as_many_rows_as_they_need() {
    let entries: Vec<LegendEntry> =
        [("allocated", LegendMark::Line), ("peak", LegendMark::Dashes), ("no stack", LegendMark::Area)]
            .map(|(text, mark)| LegendEntry { mark, color: Palette::DARK.accent, text: text.to_owned() })
            .to_vec();
    let sheet = sheet(&Palette::DARK, 1.0);
    let height = |width: f32| {
        let mut height = 0.0;
        let place = Rect::from_min_size(pos2(10.0, 10.0), vec2(width, 100.0));
        let pixels = sheet.paint(|ui| height = legend(ui.painter(), place, &entries, sheet.palette));
        assert!(100 < inked(&pixels, sheet.palette, [10, 320], [10, 120]));
        height
    };
    let (one_row, rows) = (height(300.0), height(60.0));
    assert_eq!(rows, 3.0 * one_row);
}
