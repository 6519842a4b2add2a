//! The schemas of strangers, and whether data fits them. A pattern of theirs may take seconds: it is looked at off the
//! threads that serve requests, and few at once.

use chorus_core::model::error::{Code, Refusal};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// How many are looked at at once; the others wait for these, and for nothing else.
static PLACES: Semaphore = Semaphore::const_new(2);

/// Refuses data that does not fit a schema that was checked when it was registered.
pub(super) async fn must_fit(schema: &str, data: &str, what: &'static str) -> Result<(), Refusal> {
    let (schema, data) = (schema.to_owned(), data.to_owned());
    off_thread(move || chorus_schema::must_fit(&schema, &data, what)).await
}

/// Looks at schemas where that may take its time.
pub(super) async fn off_thread<T: Send + 'static>(
    look: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let broken = |why: String| {
        tracing::error!(why, "a schema could not be looked at");
        Refusal::new(Code::Internal, "the host made a mistake while it looked at a schema")
    };
    let place = PLACES.acquire().await.map_err(|why| broken(why.to_string()))?;
    let looked = spawn_blocking(move || {
        // Also when nobody waits for it any more.
        let _place = place;
        look()
    });
    looked.await.map_err(|why| broken(why.to_string()))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_slow_pattern_is_not_in_the_way_of_requests() {
        let schema = r#"{"properties": {"a": {"pattern": "^(a|aa){1,400}$"}}}"#;
        let data = format!(r#"{{"a": "{}!"}}"#, "a".repeat(20_000));
        tokio::select! {
            biased;
            _ = must_fit(schema, &data, "input_data") => panic!("a request waited for it"),
            () = std::future::ready(()) => {}
        }
        assert!(must_fit(schema, r#"{"a": "b"}"#, "input_data").await.is_err());
    }
}
