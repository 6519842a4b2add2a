//! What clients of other protocols read of the registry: agent cards of A2A, the keys that verify
//! them, and ARD.

use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use reqwest::Method;
use serde_json::{Value, json};

use crate::test_host::{Answer, START, TestHost};

/// A host with an agent of bot's owner for hire.
struct Market {
    host: TestHost,
    token: String,
    agent: String,
}

impl Market {
    async fn open() -> Self {
        Self::open_as(false).await
    }

    async fn open_as(public: bool) -> Self {
        let set = |config: &mut chorus_server::Config| config.settings.registry.public = public;
        let host = TestHost::open_with(tempfile::tempdir().unwrap(), START, set).await;
        host.room(&["bot", "scout"]).await;
        let token = host.token("bot").await;
        let mut market = Self { host, token, agent: String::new() };
        market.agent = market.offer("Übersetzer \"T\"", translation()).await;
        market
    }

    /// Registers an agent with these skills; its id.
    async fn offer(&self, name: &str, skills: Value) -> String {
        let new = json!({"agent_name": name, "skills": skills});
        let made = self.host.post(&self.token, "/register", new).await.ok();
        made["agent_id"].as_str().unwrap().to_owned()
    }

    fn card_path(&self) -> String {
        format!("/agents/{}/.well-known/agent-card.json", self.agent)
    }

    async fn card(&self) -> Value {
        self.host.get(&self.token, &self.card_path()).await.ok()
    }

    async fn anonymous(&self, method: Method, path: &str, body: Option<Value>) -> Answer {
        let request = self.host.request(method, path);
        TestHost::answer(match body {
            Some(body) => request.json(&body),
            None => request,
        })
        .await
    }

    async fn keys(&self) -> Value {
        self.anonymous(Method::GET, "/.well-known/jwks.json", None).await.ok()
    }

    async fn search(&self, query: Value) -> Value {
        self.host.post(&self.token, "/search", query).await.ok()
    }
}

fn translation() -> Value {
    json!([
        {
            "skill_name": "translate_text",
            "description": "Translates a text.\nInto any language: 日本語, 😀.",
            "cost_per_call": 0.05,
            "input_schema": {
                "type": "object",
                "properties": {"text": {"type": "string"}, "to": {"type": "string"}},
                "examples": [{"text": "hello", "to": "de"}],
            },
        },
        {"skill_name": "summarize:short", "cost_per_call": 5},
    ])
}

/// RFC 8785, for texts and numbers as cards have them; written apart from what the host does.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(object) => {
            let mut names: Vec<&String> = object.keys().collect();
            names.sort_by_key(|name| name.encode_utf16().collect::<Vec<_>>());
            let pair = |name: &&String| format!("{}:{}", json!(name), canonical(&object[*name]));
            format!("{{{}}}", names.iter().map(pair).collect::<Vec<_>>().join(","))
        }
        Value::Array(list) => {
            format!("[{}]", list.iter().map(canonical).collect::<Vec<_>>().join(","))
        }
        Value::Number(number) => number.as_f64().unwrap().to_string(),
        other => other.to_string(),
    }
}

/// Whether one of the keys has signed the card.
fn is_signed(card: &Value, keys: &Value) -> bool {
    let mut unsigned = card.clone();
    let signatures = unsigned.as_object_mut().unwrap().remove("signatures").unwrap();
    let protected = signatures[0]["protected"].as_str().unwrap();
    let header: Value = serde_json::from_slice(&BASE64.decode(protected).unwrap()).unwrap();
    assert_eq!((&header["alg"], &header["typ"]), (&json!("EdDSA"), &json!("JOSE")), "{header}");
    assert!(header["jku"].as_str().unwrap().ends_with("/.well-known/jwks.json"), "{header}");
    let key = keys["keys"].as_array().unwrap().iter().find(|key| key["kid"] == header["kid"]);
    let Some(key) = key else { return false };
    assert_eq!((&key["kty"], &key["crv"]), (&json!("OKP"), &json!("Ed25519")), "{key}");
    let bytes = |value: &Value| BASE64.decode(value.as_str().unwrap()).unwrap();
    let key = UnparsedPublicKey::new(&ED25519, bytes(&key["x"]));
    let signature = bytes(&signatures[0]["signature"]);
    let signed = format!("{protected}.{}", BASE64.encode(canonical(&unsigned)));
    key.verify(signed.as_bytes(), &signature).is_ok()
}

/// Texts, lists and objects that are empty: libraries of A2A leave them out of what is signed.
fn empty(value: &Value, at: &str) -> Vec<String> {
    let under = |name: &str, value: &Value| empty(value, &format!("{at}/{name}"));
    match value {
        Value::String(text) if text.is_empty() => vec![at.to_owned()],
        Value::Array(list) if list.is_empty() => vec![at.to_owned()],
        Value::Object(object) if object.is_empty() => vec![at.to_owned()],
        Value::Array(list) => list.iter().flat_map(|one| under("*", one)).collect(),
        Value::Object(object) => object.iter().flat_map(|(name, one)| under(name, one)).collect(),
        _ => Vec::new(),
    }
}

// covers: REG-80
#[tokio::test]
async fn a_card_says_of_an_agent_what_its_listing_says() {
    let market = Market::open().await;
    let (card, url) = (market.card().await, market.host.url(""));
    assert_eq!(card["name"], "Übersetzer \"T\"");
    let interface = json!([{
        "url": format!("{url}/jobs"), "protocolBinding": "urn:chorus:registry:0.1",
        "tenant": market.agent, "protocolVersion": "0.1",
    }]);
    assert_eq!(card["supportedInterfaces"], interface);
    assert_eq!(card["provider"], json!({"organization": "bot", "url": url}));
    let skills = json!([
        {
            "id": "summarize:short", "name": "summarize:short",
            "description": "It offers summarize:short, and says no more of it.",
            "tags": ["summarize", "short"],
            "inputModes": ["application/json"], "outputModes": ["application/json"],
        },
        {
            "id": "translate_text", "name": "translate_text",
            "description": "Translates a text.\nInto any language: 日本語, 😀.",
            "tags": ["translate", "text"], "examples": [r#"{"text":"hello","to":"de"}"#],
            "inputModes": ["application/json"], "outputModes": ["application/json"],
        },
    ]);
    assert_eq!(card["skills"], skills);
    let credits = &card["capabilities"]["extensions"][0];
    assert_eq!(credits["required"], true);
    let prices = json!({"summarize:short": 5, "translate_text": 0.05});
    assert_eq!(credits["params"], json!({"currency": "chorus_credits_v1", "prices": prices}));
    assert_eq!(empty(&card, ""), Vec::<String>::new());

    // By its handle too; a change of the agent is another version, and nothing else is.
    let by_handle = market.host.get(&market.token, "/agents/@bot/.well-known/agent-card.json");
    assert_eq!(by_handle.await.ok(), card);
    market.host.post(&market.token, "/heartbeat", json!({})).await.ok();
    assert_eq!(market.card().await["version"], card["version"]);
    market.offer("Translator", translation()).await;
    assert_ne!(market.card().await["version"], card["version"]);
}

// covers: REG-80
#[tokio::test]
async fn a_card_is_there_for_members_and_for_anybody_only_if_the_operator_says_so() {
    let private = Market::open().await;
    let card = private.anonymous(Method::GET, &private.card_path(), None).await;
    assert_eq!(card.refused(401), "UNAUTHORIZED");
    let asked = json!({"query": {"text": "translate"}});
    let refused = private.anonymous(Method::POST, "/search", Some(asked.clone())).await;
    assert_eq!(refused.refused(401), "UNAUTHORIZED");

    let market = Market::open_as(true).await;
    let card = market.anonymous(Method::GET, &market.card_path(), None).await.ok();
    assert_eq!(card, market.card().await);
    let found = market.anonymous(Method::POST, "/search", Some(asked)).await.ok();
    assert_eq!(found["results"][0]["displayName"], "Übersetzer \"T\"");
    // A bad token is no better for that.
    let bad = market.host.get("nonsense", &market.card_path()).await;
    assert_eq!(bad.refused(401), "UNAUTHORIZED");
    // The rest of the registry is for members.
    let listing = format!("/agents/{}", market.agent);
    assert_eq!(market.anonymous(Method::GET, &listing, None).await.refused(401), "UNAUTHORIZED");
}

// covers: REG-80
#[tokio::test]
async fn an_agent_that_was_removed_or_never_was_has_no_card() {
    let market = Market::open().await;
    let nobody = "/agents/00000000-0000-4000-8000-000000000000/.well-known/agent-card.json";
    assert_eq!(market.host.get(&market.token, nobody).await.refused(404), "NOT_FOUND");
    let path = format!("/agents/{}", market.agent);
    market.host.send(&market.token, Method::DELETE, &path, None).await.ok();
    assert_eq!(market.host.get(&market.token, &market.card_path()).await.refused(404), "NOT_FOUND");
}

// covers: REG-81
#[tokio::test]
async fn a_card_is_signed_by_a_key_that_is_published() {
    let market = Market::open().await;
    let (card, keys) = (market.card().await, market.keys().await);
    // For those who try another program on it: lab/clients/kit/a2a_card.py.
    if let Some(folder) = std::env::var_os("CHORUS_KEEP_CARD") {
        let folder = std::path::Path::new(&folder);
        std::fs::write(folder.join("agent-card.json"), card.to_string()).unwrap();
        std::fs::write(folder.join("jwks.json"), keys.to_string()).unwrap();
    }
    assert!(is_signed(&card, &keys));
    for (path, other) in [
        ("/name", json!("Translator")),
        ("/version", json!("0")),
        ("/capabilities/extensions/0/params/prices/translate_text", json!(0.04)),
        ("/skills/0/tags/0", json!("summarise")),
    ] {
        let mut forged = card.clone();
        *forged.pointer_mut(path).unwrap() = other;
        assert!(!is_signed(&forged, &keys), "{path}");
    }
}

// covers: REG-81
#[tokio::test]
async fn a_key_that_signs_no_more_is_published_until_its_last_token_has_ended() {
    let market = Market::open().await;
    let (old_card, old_keys) = (market.card().await, market.keys().await);
    market.host.post(&market.host.operator(), "/v1/tokens/rotate", json!({})).await.ok();
    let keys = market.keys().await;
    assert_eq!(keys["keys"].as_array().unwrap().len(), 2, "{keys}");
    assert_eq!(keys["keys"][1], old_keys["keys"][0]);
    assert!(is_signed(&old_card, &keys));
    let card = market.card().await;
    assert!(is_signed(&card, &keys));
    assert!(!is_signed(&card, &old_keys));
}

// covers: REG-82
#[tokio::test]
async fn a_manifest_leads_to_the_search_and_names_agents_only_where_they_are_public() {
    for (public, count) in [(false, 1), (true, 2)] {
        let market = Market::open_as(public).await;
        let manifest = market.anonymous(Method::GET, "/.well-known/ard.json", None).await.ok();
        assert_eq!(manifest["specVersion"], "1.0");
        let entries = manifest["entries"].as_array().unwrap();
        assert_eq!(entries.len(), count, "{manifest}");
        for entry in entries {
            let name = entry["identifier"].as_str().unwrap();
            assert!(name.starts_with("urn:air:agent.localhost:"), "{entry}");
            let queries = entry["representativeQueries"].as_array().unwrap();
            assert!((2..=5).contains(&queries.len()), "{entry}");
            assert!(entry["url"].is_string() && entry["type"].is_string(), "{entry}");
        }
        assert_eq!(entries[0]["type"], "application/ai-registry+json");
        let base = entries[0]["url"].as_str().unwrap();
        let path = base.strip_prefix(&market.host.url("")).unwrap();
        let asked = json!({"query": {"text": "translate"}});
        let path = format!("{path}/search");
        let at_base = market.host.post(&market.token, &path, asked.clone()).await.ok();
        assert_eq!(at_base, market.search(asked).await);
    }
}

// covers: REG-82
#[tokio::test]
async fn a_search_in_plain_words_finds_agents_and_leads_to_their_cards() {
    let market = Market::open().await;
    let scout = market.host.token("scout").await;
    let other = json!({"agent_name": "Scout", "skills": [
        {"skill_name": "find_text", "description": "Finds a text.", "cost_per_call": 0.01},
    ]});
    market.host.post(&scout, "/register", other).await.ok();

    let asked = json!({"query": {"text": "Find me an agent that can translate a text, please"}});
    let found = market.search(asked).await;
    let results = found["results"].as_array().unwrap();
    let names: Vec<_> = results.iter().map(|one| (&one["displayName"], &one["score"])).collect();
    let (translator, scout) = (json!("Übersetzer \"T\""), json!("Scout"));
    assert_eq!(names, [(&translator, &json!(100)), (&scout, &json!(50))]);
    let first = &results[0];
    assert_eq!(first["type"], "application/a2a-agent-card+json");
    assert_eq!(first["capabilities"], json!(["summarize:short", "translate_text"]));
    assert_eq!(first["metadata"]["costPerCall"], 0.05);
    assert!(first.get("representativeQueries").is_none(), "{first}");
    let path = first["url"].as_str().unwrap().strip_prefix(&market.host.url("")).unwrap();
    assert_eq!(market.host.get(&market.token, path).await.ok(), market.card().await);

    // A page at a time.
    let page = json!({"query": {"text": "text"}, "pageSize": 1, "federation": "referrals"});
    let page = market.search(page).await;
    assert_eq!((&page["pageToken"], &page["referrals"]), (&json!("1"), &json!([])));
    let next = json!({"query": {"text": "text"}, "pageSize": 1, "pageToken": page["pageToken"]});
    let next = market.search(next).await;
    assert_ne!(next["results"][0]["identifier"], page["results"][0]["identifier"]);
    assert!(next.get("pageToken").is_none() && next["results"].as_array().unwrap().len() == 1);
}

// covers: REG-82
#[tokio::test]
async fn a_search_is_narrowed_by_what_entries_say_and_refuses_what_it_does_not_know() {
    let market = Market::open().await;
    for (filter, count) in [
        (json!({}), 1),
        (json!({"type": "application/a2a-agent-card+json"}), 1),
        (json!({"type": ["application/mcp-server-card+json"]}), 0),
        (json!({"capabilities": ["nothing", "translate_text"]}), 1),
        (json!({"capabilities": ["nothing"]}), 0),
        (json!({"tags": "short", "publisher": "agent.localhost"}), 1),
        (json!({"publisher": ["acme.com"]}), 0),
        (json!({"metadata.verified": "false", "metadata.ownerId": ["bot"]}), 1),
        (json!({"metadata.status": "busy"}), 0),
    ] {
        let asked = json!({"query": {"text": "translate", "filter": filter}});
        let found = market.search(asked).await;
        assert_eq!(found["results"].as_array().unwrap().len(), count, "{filter}: {found}");
    }
    for bad in [
        json!({}),
        json!({"query": {}}),
        json!({"query": {"text": "?!"}}),
        json!({"query": {"text": "translate", "filter": {"trustManifest.identity": "x"}}}),
        json!({"query": {"text": "translate"}, "pageSize": 0}),
        json!({"query": {"text": "translate"}, "pageSize": 101}),
        json!({"query": {"text": "translate"}, "pageToken": "-1"}),
        json!({"query": {"text": "translate"}, "federation": "some"}),
        json!({"query": {"text": "translate"}, "hops": 3}),
    ] {
        let refused = market.host.post(&market.token, "/search", bad.clone()).await;
        assert_eq!(refused.refused(400), "VALIDATION_ERROR", "{bad}");
    }
}
