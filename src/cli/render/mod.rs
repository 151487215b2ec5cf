//! `oomscope render`.

mod args;
mod spec;

pub(super) use args::RenderArgs;

use super::failure::Failure;
use oomscope_draw::software::MAX_SIDE_PX;
use oomscope_export::{Format, PictureKind};
use std::path::Path;

/// Largest number of pixels of a picture, four times those of an 8K screen: they take half a GiB of memory.
const MAX_PX: f32 = 4.0 * 7680.0 * 4320.0;

pub(super) fn run(args: &RenderArgs) -> Result<(), Failure> {
    let format = format(args)?;
    let destination = args.source.destination(Some(&args.output))?;
    let recording = args.source.open()?;
    let selected = args.target.one_in(&recording, args.range.as_ref())?;
    let spec = spec::spec(args, &recording, &selected)?;
    let file = spec
        .file(format, args.size, args.scale)
        .map_err(|error| recording.failure(error, "use another size"))?;
    destination.write(|out| Ok(out.write_all(&file)?))
}

/// The format of the output. Pictures that cannot be written are refused here, before a large file is read.
fn format(args: &RenderArgs) -> Result<Format, Failure> {
    let [width, height] = args.size.map(|side| side * args.scale);
    if (MAX_SIDE_PX as f32) < width.max(height) || MAX_PX < width * height {
        return Err(Failure::new(
            format_args!("{width} × {height} pixels are too many"),
            "use a smaller --size or --scale",
        ));
    }
    let has_extension = |format: &Format| {
        args.output.extension().is_some_and(|found| found.eq_ignore_ascii_case(format.extension()))
    };
    let formats = [Format::Png, Format::Svg];
    let found = formats.into_iter().find(has_extension);
    match found.or((args.output == Path::new("-")).then_some(Format::Png)) {
        Some(Format::Svg) if args.view != PictureKind::Stacks => Err(Failure::new(
            format_args!("{}: only --view stacks can be an SVG file", args.output.display()),
            "use a name that ends in .png",
        )),
        Some(format) => Ok(format),
        None => Err(Failure::new(
            format_args!("{}: pictures are PNG files, or SVG for --view stacks", args.output.display()),
            "use a name that ends in .png",
        )),
    }
}
