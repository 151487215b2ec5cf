//! Outlines of steps, written briefly: whole tenths of a unit, each from where the one before ended.

/// Parts of a unit that coordinates are counted in: finer than a pixel.
pub(super) const PARTS: f64 = 10.0;

/// A path of horizontal and vertical lines.
#[derive(Default)]
pub(super) struct Steps {
    out: String,
    /// Where the path has come to, and how far of that is written: steps of the same height are one line.
    x: i64,
    written_x: i64,
    y: i64,
}

impl Steps {
    /// Begin a line at a place.
    pub(super) fn start(&mut self, [x, y]: [f64; 2]) {
        self.level_off();
        (self.x, self.y) = (parts(x), parts(y));
        self.written_x = self.x;
        self.out.extend([format!("M{} {}", self.x, self.y)]);
    }

    /// Go up or down to `y`, then along to `x`.
    pub(super) fn step(&mut self, y: f64, x: f64) {
        let y = parts(y);
        if y != self.y {
            self.level_off();
            self.out.extend([format!("v{}", y - self.y)]);
            self.y = y;
        }
        self.x = parts(x);
    }

    /// Go back to where the line began.
    pub(super) fn close(&mut self) {
        self.level_off();
        self.out.push('z');
    }

    /// The path for the attribute `d`.
    pub(super) fn finish(mut self) -> String {
        self.level_off();
        self.out
    }

    fn level_off(&mut self) {
        if self.x != self.written_x {
            self.out.extend([format!("h{}", self.x - self.written_x)]);
            self.written_x = self.x;
        }
    }
}

fn parts(units: f64) -> i64 {
    (units * PARTS).round() as i64
}

#[cfg(test)]
mod tests {
    use super::Steps;

    #[test]
    fn steps_of_the_same_height_are_one_line() {
        let mut path = Steps::default();
        path.start([1.0, 5.0]);
        path.step(5.0, 2.04);
        path.step(5.0, 3.0);
        path.step(2.5, 4.0);
        path.step(8.0, 1.0);
        path.close();
        path.start([7.0, 7.0]);
        path.step(7.0, 8.0);
        assert_eq!(path.finish(), "M10 50h20v-25h10v55h-30zM70 70h10");
    }
}
