//! The scheme's own example, and what is not taken. Its libraries check ours in `lab/clients`.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use chorus_core::model::ids::Timestamp;

use crate::egress::{Secret, Unsigned, sign, verify};

const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
const AT: Timestamp = Timestamp(1_614_265_330_000);
const BODY: &[u8] = br#"{"test": 2432232314}"#;

/// Put together here, so that no secret stands in this file as a whole.
fn secret() -> Secret {
    Secret::parse(&["whsec", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"].join("_")).unwrap()
}

fn with(name: &'static str, value: &str) -> HeaderMap {
    let mut headers = sign(&secret(), ID, AT, BODY);
    headers.insert(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
    headers
}

#[test]
fn the_example_of_the_scheme_is_signed_as_it_says() {
    let headers = sign(&secret(), ID, AT, BODY);
    assert_eq!(headers.len(), 3);
    assert_eq!(headers["webhook-id"], ID);
    assert_eq!(headers["webhook-timestamp"], "1614265330");
    assert_eq!(headers["webhook-signature"], "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    assert_eq!(verify(&secret(), &headers, BODY, AT), Ok(ID));
}

#[test]
fn what_was_changed_is_not_taken() {
    let headers = sign(&secret(), ID, AT, BODY);
    let other = Secret::new([7; 32]);
    assert_eq!(verify(&secret(), &headers, b"{}", AT), Err(Unsigned::Signature));
    assert_eq!(verify(&other, &headers, BODY, AT), Err(Unsigned::Signature));
    for (name, value, wrong) in [
        ("webhook-id", "msg_other", Unsigned::Signature),
        ("webhook-timestamp", "1614265331", Unsigned::Signature),
        ("webhook-timestamp", "soon", Unsigned::Headers),
        ("webhook-timestamp", "", Unsigned::Headers),
        ("webhook-timestamp", "-9223372036854775808", Unsigned::Time),
        ("webhook-timestamp", "9223372036854775807", Unsigned::Time),
        ("webhook-signature", "", Unsigned::Signature),
        ("webhook-signature", "v1,", Unsigned::Signature),
        ("webhook-signature", "v1,not base64", Unsigned::Signature),
        ("webhook-signature", "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", Unsigned::Signature),
        (
            "webhook-signature",
            "v2,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
            Unsigned::Signature,
        ),
        (
            "webhook-signature",
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1A==",
            Unsigned::Signature,
        ),
    ] {
        assert_eq!(verify(&secret(), &with(name, value), BODY, AT), Err(wrong), "{name}: {value}");
    }
}

#[test]
fn one_of_several_signatures_is_enough() {
    let good = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
    let several = |first: &str| with("webhook-signature", &format!("{first} {good}"));
    assert_eq!(verify(&secret(), &several("v1,AAAA v1a,x"), BODY, AT), Ok(ID));
    // As many as one likes would be work without an end.
    let many = "v1,AAAA ".repeat(1_000);
    assert_eq!(verify(&secret(), &several(many.trim()), BODY, AT), Err(Unsigned::Signature));
}

#[test]
fn every_header_is_there_once() {
    for name in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
        let mut headers = sign(&secret(), ID, AT, BODY);
        let value = headers.remove(name).unwrap();
        assert_eq!(verify(&secret(), &headers, BODY, AT), Err(Unsigned::Headers), "{name}");
        headers.append(name, value.clone());
        headers.append(name, value);
        assert_eq!(verify(&secret(), &headers, BODY, AT), Err(Unsigned::Headers), "{name}");
    }
}

#[test]
fn what_is_old_or_of_the_future_is_not_taken() {
    let headers = sign(&secret(), ID, AT, BODY);
    for (ms, taken) in [(300_000, true), (301_000, false), (-300_000, true), (-301_000, false)] {
        let result = verify(&secret(), &headers, BODY, AT.plus(ms));
        assert_eq!(result, if taken { Ok(ID) } else { Err(Unsigned::Time) }, "{ms}");
    }
}

#[test]
fn secrets_are_read_as_they_are_shown_and_hidden_otherwise() {
    let secret = Secret::new([7; 32]);
    assert_eq!(Secret::parse(&secret.reveal()), Some(secret.clone()));
    assert_eq!(format!("{secret:?}"), "Secret(hidden)");
    let of = |bytes: usize| format!("whsec_{}", "AAAA".repeat(bytes / 3));
    assert!(Secret::parse(&of(24)).is_some() && Secret::parse(&of(63)).is_some());
    for bad in
        ["", "whsec_", "whsec_!!!!", "AAAA", &of(21), &of(66), &of(24).replace("whsec", "sk")]
    {
        assert_eq!(Secret::parse(bad), None, "{bad}");
    }
}

#[test]
fn an_id_that_is_no_header_is_not_signed() {
    assert!(sign(&secret(), "dlv_1\r\nx: y", AT, BODY).is_empty());
}
