fn main() {
    for a in std::env::args().skip(1) {
        let t = std::time::Instant::now();
        match oomscope::load::load(&oomscope::load::Input::from_arg(a.as_ref()), &oomscope::load::Progress::default()) {
            Ok(s) => { println!("{a}: {:?} bytes {} strings {} frames {} stacks {}", t.elapsed(), s.pickle_bytes, s.strings.len(), s.frames.len(), s.stacks.len());
                for t in &s.timelines { println!("  {:?} ev {} alloc {} peak {:?} anomalies {:?}", t.device, t.events.len(), t.lifetimes.len(), t.active.peak(), t.anomalies); }
                println!("{:?} {:?} {:?}", s.unknown_keys, s.issues, s.damage);
            }
            Err(e) => println!("{a}: {e} / {}", e.hint()),
        }
    }
}
