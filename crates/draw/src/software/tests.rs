//! The rules of the painter, against slower ways to say the same.

use super::*;
use egui::epaint::{ClippedPrimitive, ImageDelta, Mesh, Primitive, Vertex};
use egui::{Color32, ColorImage, Pos2, Rect, TextureId, TextureOptions, TexturesDelta, pos2};
use proptest::prelude::*;

const SIZE: [usize; 2] = [40, 30];
const GROUND: Rgb = Rgb(0, 0, 0);
const WHITE: TextureId = TextureId::Managed(0);
const IMAGE: TextureId = TextureId::User(7);

/// A white texture like the one of fonts, and one of four colours.
fn textures(options: TextureOptions) -> Textures {
    let mut textures = Textures::default();
    let mut delta = TexturesDelta::default();
    let white = ColorImage::filled([1, 1], Color32::WHITE);
    delta.push(WHITE, ImageDelta::full(white, TextureOptions::LINEAR));
    let colors = [(255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)];
    let image = ColorImage::new([2, 2], colors.map(|(r, g, b)| Color32::from_rgb(r, g, b)).to_vec());
    delta.push(IMAGE, ImageDelta::full(image, options));
    textures.apply(&mut delta);
    textures
}

fn everything() -> Rect {
    Rect::from_min_max(Pos2::ZERO, pos2(1e6, 1e6))
}

fn primitive(mesh: Mesh) -> ClippedPrimitive {
    ClippedPrimitive { clip_rect: everything(), primitive: Primitive::Mesh(mesh) }
}

fn triangles(corners: &[[f32; 2]], color: Color32) -> Mesh {
    let vertices = corners.iter().map(|&[x, y]| Vertex::untextured(pos2(x, y), color)).collect();
    Mesh { indices: (0..corners.len() as u32).collect(), vertices, texture_id: WHITE }
}

fn rect(area: Rect, color: Color32) -> Mesh {
    let mut mesh = Mesh::with_texture(WHITE);
    mesh.add_colored_rect(area, color);
    mesh
}

fn image(area: Rect, uv: Rect, tint: Color32) -> Mesh {
    let mut mesh = Mesh::with_texture(IMAGE);
    mesh.add_rect_with_uv(area, uv, tint);
    mesh
}

fn shown(meshes: Vec<Mesh>) -> Pixels {
    shown_with(meshes, TextureOptions::NEAREST)
}

fn shown_with(meshes: Vec<Mesh>, options: TextureOptions) -> Pixels {
    let primitives: Vec<ClippedPrimitive> = meshes.into_iter().map(primitive).collect();
    paint(&primitives, &textures(options), 1.0, SIZE, GROUND)
}

fn red(pixels: &Pixels) -> Vec<u8> {
    pixels.rgba.iter().step_by(4).copied().collect()
}

/// Pixels with this much red.
fn count(pixels: &Pixels, value: u8) -> usize {
    pixels.rgba.chunks_exact(4).filter(|pixel| pixel[0] == value).count()
}

#[test]
fn nothing_leaves_the_ground() {
    let pixels = paint(&[], &Textures::default(), 1.0, [3, 2], Rgb(1, 2, 3));
    assert_eq!(pixels.rgba, [1, 2, 3, 255].repeat(6));
    assert_eq!((pixels.get(2, 1), pixels.get(3, 1), pixels.get(2, 2)), (Some([1, 2, 3, 255]), None, None));
    assert!(paint(&[], &Textures::default(), 1.0, [0, 5], GROUND).rgba.is_empty());
}

#[test]
fn triangles_that_share_an_edge_leave_no_gap_and_cover_nothing_twice() {
    let (centre, half) = ([17.3, 13.9], Color32::from_rgba_premultiplied(100, 0, 0, 128));
    let around = [[2.0, 1.0], [21.7, 0.4], [38.0, 2.0], [37.5, 28.0], [9.1, 29.0], [1.0, 20.0]];
    let fan: Vec<[f32; 2]> =
        (0..around.len()).flat_map(|i| [centre, around[i], around[(i + 1) % around.len()]]).collect();
    let outline = [0, 1, 2, 0, 2, 3, 0, 3, 4, 0, 4, 5].map(|i| around[i]);
    let (fan, other) = (shown(vec![triangles(&fan, half)]), shown(vec![triangles(&outline, half)]));
    assert!(red(&fan).iter().all(|&value| value == 0 || value == 100));
    assert_eq!(fan, other);
    assert!(400 < count(&fan, 100));
}

#[test]
fn either_way_round_is_the_same_triangle() {
    let (a, b, c) = ([3.2, 2.7], [30.1, 9.9], [12.0, 27.4]);
    let there = shown(vec![triangles(&[a, b, c], Color32::WHITE)]);
    assert_eq!(there, shown(vec![triangles(&[a, c, b], Color32::WHITE)]));
    assert_ne!(there, shown(Vec::new()));
}

#[test]
fn clip_rectangles_are_rounded_to_pixels() {
    let clip = Rect::from_min_max(pos2(2.4, 3.6), pos2(9.5, 7.4));
    let mesh = Primitive::Mesh(rect(everything(), Color32::WHITE));
    let primitives = [ClippedPrimitive { clip_rect: clip, primitive: mesh }];
    let pixels = paint(&primitives, &textures(TextureOptions::NEAREST), 1.0, SIZE, GROUND);
    let inside = |x, y| (2..10).contains(&x) && (4..7).contains(&y);
    for (i, value) in red(&pixels).into_iter().enumerate() {
        assert_eq!(value == 255, inside(i % SIZE[0], i / SIZE[0]), "pixel {i}");
    }
    let twice = paint(&primitives, &textures(TextureOptions::NEAREST), 2.0, SIZE, GROUND);
    assert_eq!(count(&twice, 255), (19 - 5) * (15 - 7));
}

#[test]
fn nearest_textures_have_hard_edges_and_take_the_tint() {
    let area = Rect::from_min_max(pos2(4.0, 4.0), pos2(12.0, 12.0));
    let whole = Rect::from_min_max(Pos2::ZERO, pos2(1.0, 1.0));
    let pixels = shown(vec![image(area, whole, Color32::from_rgb(255, 128, 0))]);
    assert_eq!(pixels.get(4, 4), Some([255, 0, 0, 255]));
    assert_eq!(pixels.get(7, 7), Some([255, 0, 0, 255]));
    assert_eq!(pixels.get(8, 7), Some([0, 128, 0, 255]));
    assert_eq!(pixels.get(7, 8), Some([0, 0, 0, 255]));
    assert_eq!(pixels.get(11, 11), Some([255, 128, 0, 255]));
    assert_eq!(pixels.get(12, 11), Some([0, 0, 0, 255]));
}

#[test]
fn linear_textures_are_mixed_between_the_centres_of_texels() {
    let area = Rect::from_min_max(pos2(0.0, 0.0), pos2(8.0, 8.0));
    let whole = Rect::from_min_max(Pos2::ZERO, pos2(1.0, 1.0));
    let pixels = shown_with(vec![image(area, whole, Color32::WHITE)], TextureOptions::LINEAR);
    // The centre of pixel 3 is at 3.5 of 8: texel coordinate 0.875, so 3/8 between the centres.
    assert_eq!(pixels.get(0, 0), Some([255, 0, 0, 255]));
    assert_eq!(pixels.get(3, 0), Some([159, 96, 0, 255]));
    assert_eq!(pixels.get(7, 7), Some([255, 255, 255, 255]));
    // One texel per pixel is a copy.
    let area = Rect::from_min_max(pos2(5.0, 5.0), pos2(7.0, 7.0));
    let copy = shown_with(vec![image(area, whole, Color32::WHITE)], TextureOptions::LINEAR);
    assert_eq!(copy.get(6, 5), Some([0, 255, 0, 255]));
}

#[test]
fn textures_repeat_or_mirror_beyond_their_edges() {
    let area = Rect::from_min_max(pos2(0.0, 0.0), pos2(6.0, 1.0));
    let thrice = Rect::from_min_max(Pos2::ZERO, pos2(3.0, 0.5));
    let row = |options| {
        let pixels = shown_with(vec![image(area, thrice, Color32::WHITE)], options);
        (0..6).map(|x| pixels.get(x, 0).map(|color| color[0])).collect::<Vec<_>>()
    };
    let clamp = TextureOptions::NEAREST;
    assert_eq!(row(clamp), [255, 0, 0, 0, 0, 0].map(Some));
    assert_eq!(row(TextureOptions::NEAREST_REPEAT), [255, 0, 255, 0, 255, 0].map(Some));
    assert_eq!(row(TextureOptions::NEAREST_MIRRORED_REPEAT), [255, 0, 0, 255, 255, 0].map(Some));
}

#[test]
fn patches_change_a_part_and_textures_leave_a_frame_later() {
    let mut textures = textures(TextureOptions::NEAREST);
    let mut delta = TexturesDelta::default();
    let patch = ColorImage::filled([1, 1], Color32::from_rgb(9, 9, 9));
    let options = TextureOptions::NEAREST;
    delta.push(IMAGE, ImageDelta::partial([1, 0], patch.clone(), options));
    delta.push(IMAGE, ImageDelta::partial([2, 0], patch, options));
    delta.free(IMAGE);
    textures.apply(&mut delta);
    assert!(delta.is_empty());
    let area = Rect::from_min_max(pos2(0.0, 0.0), pos2(2.0, 2.0));
    let whole = Rect::from_min_max(Pos2::ZERO, pos2(1.0, 1.0));
    let primitives = [primitive(image(area, whole, Color32::WHITE))];
    let pixels = paint(&primitives, &textures, 1.0, SIZE, GROUND);
    assert_eq!(pixels.get(0, 0), Some([255, 0, 0, 255]));
    assert_eq!(pixels.get(1, 0), Some([9, 9, 9, 255]));
    textures.apply(&mut TexturesDelta::default());
    assert_eq!(paint(&primitives, &textures, 1.0, SIZE, GROUND), shown(Vec::new()));
}

#[test]
fn colours_change_evenly_between_corners() {
    let mut mesh = triangles(&[[0.0, 0.0], [32.0, 0.0], [0.0, 300.0]], Color32::BLACK);
    mesh.vertices[1].color = Color32::from_rgb(255, 0, 0);
    let pixels = shown(vec![mesh]);
    let row: Vec<u8> = (0..30).filter_map(|x| pixels.get(x, 0)).map(|color| color[0]).collect();
    for (x, value) in row.into_iter().enumerate() {
        let expected = (x as f32 + 0.5) / 32.0 * 255.0;
        assert!((f32::from(value) - expected).abs() < 1.0, "{x}: {value}, not {expected}");
    }
}

#[test]
fn lines_that_end_far_away_keep_their_slope() {
    let line = |reach: f32| {
        let (a, b) = ([20.0 - reach, 15.0 - reach], [20.0 + reach, 15.0 + reach]);
        shown(vec![triangles(
            &[a, b, [b[0], b[1] + 4.0], a, [b[0], b[1] + 4.0], [a[0], a[1] + 4.0]],
            Color32::WHITE,
        )])
    };
    let (near, far) = (line(1000.0), line(16_000_000.0));
    assert!(100 < count(&near, 255));
    assert_eq!(near, far);
}

#[test]
fn what_is_no_number_is_left_out() {
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    let odd = [[nan, 0.0], [9.0, 0.0], [0.0, 9.0], [-inf, 2.0], [inf, 2.0], [3.0, inf]];
    let mut broken = triangles(&[[1.0, 1.0], [9.0, 1.0], [1.0, 9.0]], Color32::WHITE);
    broken.indices[1] = 99;
    let area = Rect::from_min_max(pos2(nan, 2.0), pos2(9.0, inf));
    let mut unknown = rect(everything(), Color32::WHITE);
    unknown.texture_id = TextureId::User(99);
    let meshes = vec![triangles(&odd, Color32::WHITE), broken, rect(area, Color32::WHITE), unknown];
    assert_eq!(shown(meshes), shown(Vec::new()));
}

#[test]
fn two_triangles_are_one_rectangle_only_if_they_are() {
    let mesh = rect(Rect::from_min_max(pos2(1.0, 2.0), pos2(5.0, 9.0)), Color32::WHITE);
    let corners: Vec<polygon::Corner> =
        mesh.indices.iter().map(|&i| polygon::Corner::new(&mesh.vertices[i as usize], 1.0)).collect();
    let triangle = |at: [usize; 3]| at.map(|i| corners[i]);
    let (a, b) = (triangle([0, 1, 2]), triangle([3, 4, 5]));
    let ends = rect::of_triangles(&a, &b).expect("a rectangle");
    assert_eq!((ends[0].x, ends[0].y, ends[1].x, ends[1].y), (1.0, 2.0, 5.0, 9.0));
    assert!(rect::of_triangles(&a, &a).is_none());
    let mut leaning = b;
    leaning.iter_mut().filter(|corner| 8.0 < corner.y).for_each(|corner| corner.x += 0.5);
    assert!(rect::of_triangles(&a, &leaning).is_none());
    let mut other = b;
    other[1].color[0] = 7.0;
    assert!(rect::of_triangles(&a, &other).is_none());
}

/// Corners of rectangles and triangles on and beside the picture.
fn corner() -> impl Strategy<Value = [f32; 2]> {
    let along = |size: f32| (-8.0f32..size + 8.0).prop_map(|at| (at * 4.0).round() / 4.0);
    [along(40.0), along(30.0)]
}

fn any_color() -> impl Strategy<Value = Color32> {
    any::<[u8; 4]>().prop_map(|[r, g, b, a]| Color32::from_rgba_unmultiplied(r, g, b, a))
}

proptest! {
    #[test]
    fn rectangles_are_filled_like_pixel_by_pixel(
        rects in proptest::collection::vec((corner(), corner(), any_color()), 1..6)
    ) {
        let mut naive = vec![[0u8, 0, 0, 255]; SIZE[0] * SIZE[1]];
        let mut meshes = Vec::new();
        for (a, b, color) in rects {
            let area = Rect::from_two_pos(a.into(), b.into());
            meshes.push(rect(area, color));
            for (i, pixel) in naive.iter_mut().enumerate() {
                let (x, y) = ((i % SIZE[0]) as f32 + 0.5, (i / SIZE[0]) as f32 + 0.5);
                if area.min.x <= x && x < area.max.x && area.min.y <= y && y < area.max.y {
                    let src = color.to_array().map(f64::from);
                    for (to, from) in pixel.iter_mut().zip(src) {
                        *to = (from + f64::from(*to) * (1.0 - src[3] / 255.0)).round().min(255.0) as u8;
                    }
                }
            }
        }
        prop_assert_eq!(shown(meshes).rgba, naive.into_flattened());
    }

    #[test]
    fn triangles_cover_the_pixels_whose_centres_are_inside(
        corners in [corner(), corner(), corner()]
    ) {
        let pixels = shown(vec![triangles(&corners, Color32::WHITE)]);
        let side = |a: [f32; 2], b: [f32; 2], p: [f32; 2]| {
            (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])
        };
        let [a, b, c] = corners;
        let turn = side(a, b, c);
        for (i, value) in red(&pixels).into_iter().enumerate() {
            let p = [(i % SIZE[0]) as f32 + 0.5, (i / SIZE[0]) as f32 + 0.5];
            let sides = [side(a, b, p), side(b, c, p), side(c, a, p)].map(|s| s * turn);
            if turn == 0.0 || sides.iter().any(|&s| s < 0.0) {
                prop_assert_eq!(value, 0);
            } else if sides.iter().all(|&s| 0.0 < s) {
                prop_assert_eq!(value, 255);
            }
        }
    }

    #[test]
    fn a_rectangle_of_one_shape_equals_its_two_triangles(a in corner(), b in corner(), color in any_color()) {
        let area = Rect::from_two_pos(a.into(), b.into());
        let mesh = rect(area, color);
        let split = |indices: &[u32]| Mesh { indices: indices.to_vec(), ..mesh.clone() };
        let halves = vec![split(&mesh.indices[..3]), split(&mesh.indices[3..])];
        prop_assert_eq!(shown(halves), shown(vec![mesh]));
    }

    #[test]
    fn any_shapes_give_the_same_bytes_on_any_number_of_threads(
        corners in proptest::collection::vec((corner(), any_color()), 9..60)
    ) {
        let vertices: Vec<Vertex> =
            corners.iter().map(|&(at, color)| Vertex::untextured(at.into(), color)).collect();
        let indices = (0..vertices.len() as u32 / 3 * 3).collect();
        let mesh = primitive(Mesh { indices, vertices, texture_id: WHITE });
        let textures = textures(TextureOptions::LINEAR);
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| paint(std::slice::from_ref(&mesh), &textures, 2.0, [80, 90], GROUND))
        };
        prop_assert_eq!(on(1), on(4));
    }
}
