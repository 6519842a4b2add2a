//! `[files]`: where the bytes of files are.

use super::kind::Secret;
use super::section::section;

section! {
    /// Where the bytes of files are. By default they are in the database, with everything else.
    Files ["files"] {
        /// An S3-compatible object store for the bytes of larger files: `s3://BUCKET` or
        /// `s3://BUCKET/PREFIX`. What is not said here comes from the `AWS_*` variables.
        store: Option<String> = None;
        /// Files of at least this size are kept there, in KiB. A file has at most 4,096.
        store_from_kib: u32 = 64, 1 => 4_096;
        /// The address of the store, such as `https://minio.example:9000`. Without it the store is
        /// Amazon's.
        endpoint: Option<String> = None;
        /// The region of the bucket. Without it, AWS_REGION or AWS_DEFAULT_REGION, or us-east-1.
        region: Option<String> = None;
        /// The id of the key for it. Without it, AWS_ACCESS_KEY_ID, or what the machine is given by
        /// Amazon.
        access_key: Option<String> = None;
        /// The secret of the key. Keep it in AWS_SECRET_ACCESS_KEY.
        secret_key: Option<Secret> = None;
    }
    check |files| {
        let mut wrong = Vec::new();
        let bucket = files.store.as_deref().map(|url| url.strip_prefix("s3://").unwrap_or_default());
        if bucket.is_some_and(|bucket| bucket.is_empty() || bucket.starts_with('/')) {
            wrong.push(("store", "is no s3://BUCKET/PREFIX".to_owned()));
        }
        if files.endpoint.as_deref().is_some_and(|url| !is_web(url)) {
            let why = "is no address such as https://minio.example:9000; a name with other letters than ASCII is \
                       written as xn--…";
            wrong.push(("endpoint", why.to_owned()));
        }
        wrong
    };
}

/// Whether requests can be made to it: a URL to HTTP's own parser too.
fn is_web(url: &str) -> bool {
    let read = url.parse::<axum::http::Uri>();
    let whole = read.is_ok_and(|url| {
        matches!(url.scheme_str(), Some("http" | "https"))
            && url.host().is_some_and(|h| !h.is_empty())
    });
    whole && url::Url::parse(url).is_ok()
}
