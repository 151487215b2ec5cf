//! Tests of ids and of predictions for whole recordings.

use super::*;

#[test]
fn ids_are_read_alone_and_joined() {
    let parts = |text: &str| Wanted::parse(text).map(|wanted| wanted.parts);
    assert_eq!(parts("sgd"), Ok(vec!["sgd".to_owned()]));
    let joined = "set:expandable_segments=True+sgd";
    assert_eq!(Wanted::parse(joined).map(|wanted| wanted.to_string()), Ok(joined.to_owned()));
    assert!(parts("nonsense").is_err_and(|error| error.to_string() == "there is no fix 'nonsense'"));
    assert!(parts("sgd+").is_err());
    assert!(parts("set:expandable_segments=maybe").is_err_and(|error| error.reason.is_some()));
    assert!(parts("set:NAME=VALUE").is_err());
}
