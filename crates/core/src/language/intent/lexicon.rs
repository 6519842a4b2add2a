//! The English words and phrases that reveal an intent.
//!
//! A table of phrases, each a signal for one [`Cue`]. `^` anchors a phrase at the start of a
//! sentence (after greetings and softeners). Phrases are looked up by their first word, so a text
//! costs one look-up per word.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

/// What a phrase signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cue {
    /// A word that carries no meaning by itself.
    Filler,
    /// A word that does not count as the start of a sentence.
    Softener,
    Greeting,
    Thanks,
    /// Praise, sympathy, laughter or a goodbye: a message of only these needs no answer.
    Courtesy,
    /// Consent, as an answer.
    Yes,
    /// Refusal, as an answer.
    No,
    /// "I'll try it": the speaker takes something on and asks for nothing.
    Undertaking,
    /// The opening of a question that may have no question mark.
    Question,
    /// A request for help or a hint, anywhere in the sentence.
    Plea,
    Please,
    /// "can you": a request if a verb follows, and always a question.
    Ask,
    /// A verb in the imperative.
    Imperative,
    /// An order that names no task: "do it".
    Bidding,
    Assignment,
    /// Asks for consent.
    Approval,
    /// Gives or refuses consent outright.
    Approved,
    Blocker,
    /// Withdraws a blocker: "unblocked".
    Unblocked,
    Cancel,
    /// Looks like a cancellation but is not: "stop by".
    NotCancel,
    Status,
}

#[rustfmt::skip]
const PHRASES: &[(Cue, &[&str])] = &[
    (Cue::Filler, &[
        "ok", "okay", "okey", "okie", "k", "kk", "so", "well", "and", "but", "also", "then", "now", "just", "oh", "ah", "aha", "ahh", "ohh",
        "hm", "hmm", "hmmm", "mm", "mmm", "um", "umm", "uh", "uhm", "huh", "btw", "anyway", "actually", "alright", "right", "fine", "very", "much", "too",
        "really", "indeed", "guys", "all", "everyone", "everybody", "folks", "team", "there", "man", "mate", "dude", "sir", "again", "it", "that",
        "this", "is", "that's", "thats", "it's", "its", "i", "you", "u", "for", "your", "the", "a", "my", "sorry", "yeah", "yes", "yep", "no", "nope", "sure", "of", "course",
        "got", "see", "understood", "noted", "gotcha", "roger", "ack", "done", "good", "pretty", "wow", "woa", "whoa", "damn", "ugh", "argh", "meh", "bah",
        "any", "way", "guess", "true", "same", "here", "lot", "lots", "me", "not", "bad", "kidding", "me", "np", "problem", "worries", "welcome", "was", "will", "do",
    ]),
    (Cue::Softener, &[
        "ok", "okay", "okey", "k", "so", "well", "and", "but", "also", "then", "now", "just", "oh", "ah", "aha", "ahh", "hm", "hmm", "hmmm", "mm", "mmm", "um", "umm", "uh", "uhm", "huh", "btw", "anyway", "anyways", "actually", "alright", "right", "guys", "all", "everyone", "everybody",
        "folks", "team", "there", "man", "mate", "dude", "sir", "sorry", "yeah", "yes", "yep", "no", "nope", "sure", "cool", "great", "nice", "ooh", "wow", "erm", "er", "eh", "lol", "hehe", "heh", "next", "first", "finally", "again", "or", "quick", "question", "basically", "honestly", "though", "still", "thx", "thanks", "if so", "in that case", "by the way", "one more", "got it", "i see", "good",
    ]),
    (Cue::Greeting, &[
        "^hi", "^hello", "^hey", "^hiya", "^helo", "^yo", "^howdy", "^greetings", "^morning", "^good morning", "^good afternoon", "^good evening", "^gm", "^welcome",
    ]),
    (Cue::Thanks, &[
        "thanks", "thank you", "thank u", "thankyou", "thank", "thx", "thanx", "thnx", "tnx", "tx", "ty", "tyvm", "thks", "cheers", "much appreciated", "appreciate it", "appreciate that",
        "appreciated", "i appreciate", "much obliged", "grateful", "kudos",
    ]),
    (Cue::Courtesy, &[
        "lol", "lmao", "rofl", "haha", "hahaha", "hehe", "heh", "hah", "ha", "hihi", "xd", "cool", "great", "nice", "awesome", "perfect", "excellent", "sweet", "neat",
        "wonderful", "brilliant", "fantastic", "amazing", "lovely", "magic", "super", "wicked", "congrats", "congratulations", "well done", "good job", "great job", "nice job", "good work", "great work", "nice work",
        "good luck", "good night", "goodnight", "gn", "bye", "cya", "see ya", "see you", "ttyl", "later", "laters", "good bye", "goodbye", "have fun", "have a nice", "have a good", "have a great", "enjoy",
        "my bad", "oops", "whoops", "no problem", "no prob", "np", "no worries", "you're welcome", "youre welcome", "your welcome", "yw", "you welcome", "my pleasure", "any time", "anytime", "good point",
        "fair enough", "makes sense", "good to know", "sounds good", "sounds great", "got it", "i see", "gotcha", "understood", "noted", "roger", "ack", "same here", "me too", "weird", "odd", "strange", "interesting",
        "sums it up", "brb", "bbl", "gtg", "g2g", "afk", "+1", "-1", "omg", "wow", "yay", "woot", "woohoo", "hurray", "hooray", "kidding", "exactly", "agreed", "i agree", "indeed", "yeah", "ok", "okay", "k", "oh", "hmm", "hm", "hmmm",
        "right", "yep", "yup", "yes", "cool thanks", "happy birthday", "merry christmas", "happy new year", "true", "hi", "hello", "hey", "ah", "ahh", "ohh", "aha", "sorry", "on it", "will do", "all good", "np at all",
        "happy to help", "glad to help", "glad it", "glad you", "glad to", "no idea",
    ]),
    (Cue::Yes, &[
        "^yes", "^yeah", "^yep", "^yup", "^ya", "^yea", "^sure", "^correct", "^exactly", "^right", "^of course", "^definitely", "^absolutely", "^indeed", "^go ahead", "^do it", "^please do",
        "^yes please", "^i think so", "^probably", "^sort of", "^kind of", "^affirmative", "^true", "^ok", "^okay", "^go for it", "^ship it", "^approved", "^approve", "^lgtm", "^looks good", "^fine", "^agreed", "^proceed", "^+1", "^sounds good", "^aye", "^maybe",
    ]),
    (Cue::No, &[
        "^no", "^nope", "^nah", "^not yet", "^not really", "^never", "^negative", "^i don't think", "^i dont think", "^i do not think", "^don't", "^dont", "^do not", "^reject", "^rejected", "^declined", "^denied", "^-1", "^hold on", "^wait", "^not now", "^no idea",
    ]),
    (Cue::Undertaking, &[
        "^i'll", "^ill", "^i will", "^i try", "^i'm going to", "^im going to", "^let me try", "^let me check", "^will try", "^will check", "^will do", "^will look", "^gonna", "^on it", "^trying", "^checking",
        "^looking into it", "^looking now",
    ]),
    (Cue::Question, &[
        "^what", "^what's", "^whats", "^how", "^how's", "^hows", "^why", "^who's", "^whos", "^where's", "^wheres", "^when is", "^when are", "^when do", "^when does", "^when did", "^when will", "^when can", "^when should",
        "^where is", "^where are", "^where do", "^where does", "^where did", "^where can", "^where should", "^where would", "^who is", "^who are", "^who can", "^who has", "^who owns", "^who wants", "^who knows", "^who did", "^who should",
        "^which", "^whose", "^is it", "^is this", "^is that", "^is there", "^is the", "^is a", "^is an", "^is anyone", "^is anybody", "^is someone", "^is my", "^is your", "^is he", "^is she", "^isn't", "^isnt", "^aren't", "^are you", "^are u", "^are there",
        "^are the", "^are they", "^are these", "^are those", "^are we", "^am i", "^was it", "^was that", "^was the", "^was there", "^was this", "^were you", "^were there", "^were the", "^do you", "^do u", "^do i", "^do we", "^do they", "^do the", "^do these", "^do those", "^do any", "^do anyone",
        "^does", "^doesn't", "^doesnt", "^did you", "^did u", "^did it", "^did the", "^did that", "^did anyone", "^did they", "^did i", "^did we", "^did he", "^did she", "^didn't you", "^don't you", "^dont you", "^can i", "^can we", "^can it", "^can this", "^can that", "^can they", "^can the", "^can one", "^can anyone",
        "^can anybody", "^can someone", "^can somebody", "^can some", "^can any", "^can't you", "^can't i", "^could i", "^could it", "^could that", "^could this", "^could anyone", "^could anybody", "^could someone", "^could somebody", "^could the", "^could there", "^could we", "^would it", "^would that", "^would this", "^would the",
        "^would there", "^would anyone", "^would i", "^would a", "^wouldn't", "^wouldnt", "^should i", "^should it", "^should we", "^should this", "^should that", "^should the", "^shouldn't", "^shouldnt", "^shall i", "^shall we", "^will it", "^will this", "^will that", "^will the", "^will there", "^will i", "^have you",
        "^have u", "^have we", "^have they", "^have any", "^has anyone", "^has anybody", "^has someone", "^has the", "^has it", "^has this", "^has that", "^hasn't", "^haven't you", "^had you", "^may i", "^must i", "^any idea", "^any ideas", "^any one", "^anyone", "^anybody", "^any body", "^any clue", "^any suggestions", "^any suggestion", "^any hints", "^any hint",
        "^any thoughts", "^any news", "^any luck", "^any tips", "^any chance", "^any help", "^any way to", "^any good", "^any reason", "^any update", "^someone know", "^someone knows", "^somebody know", "^somebody knows", "^you mean", "^u mean", "^you sure", "^r u", "^wtf is", "^wat is", "^wat", "^wot", "^or do", "^or is", "^or are",
    ]),
    (Cue::Plea, &[
        "any idea", "any ideas", "any clue", "any suggestions", "any hints", "any thoughts", "any advice", "anyone know", "anyone knows", "anybody know", "anybody knows", "does anyone", "does anybody", "does someone", "do anyone", "has anyone", "has anybody", "can anyone", "can anybody",
        "can someone", "can somebody", "can any one", "could someone", "could somebody", "could anyone", "could anybody", "is there a way", "is there any", "is there away", "is there anyone", "is there something", "is anyone", "is anybody", "do you know", "do you have", "do u know", "do any of you", "did anyone", "would anyone", "i wonder", "wondering if", "wondering how", "wondering what",
        "wondering whether", "wondering why", "was wondering", "how do i", "how can i", "how do you", "how should i", "how would i", "how to do i", "how come", "what should i", "what can i", "what do i", "where can i", "where do i", "which one should", "why is it", "why does", "why do i", "need help", "need some help", "help me", "need a hand", "need your help", "i need on help",
        "need advice", "question about", "have a question", "got a question", "quick question", "^tell me how", "^tell me what", "^tell me why", "^tell me where", "interested in hearing", "want to know", "like to know", "need to know", "can't figure out", "cant figure out", "don't know why", "dont know why", 
        "don't understand why", "dont understand why", "please help", "pls help", "plz help",
    ]),
    (Cue::Please, &["please", "pls", "plz", "pleas", "kindly"]),
    (Cue::Ask, &[
        "can you", "can u", "could you", "could u", "would you", "would u", "will you", "^are you able to", "would you mind", "do you mind", "mind taking", "i need you to", "i want you to", "i'd like you to", "i would like you to", "we need you to", "you should please",
        "how about you", "why don't you", "^need you to", "if you can", "if you could", "would be helpful if", "would be great if", "be nice if you", "have a look", "take a look", "double-check",
    ]),
    (Cue::Imperative, &[
        "^add", "^analyze", "^analyse", "^answer", "^ask", "^bring", "^build", "^bump", "^check", "^clean", "^close", "^collect", "^compare", "^compile", "^compute", "^confirm", "^continue", "^convert", "^copy", "^count", "^create", "^debug", "^define", "^delete", "^deploy", "^describe",
        "^diff", "^disable", "^document", "^download", "^draft", "^enable", "^estimate", "^evaluate", "^examine", "^explain", "^export", "^fetch", "^figure out", "^file", "^find", "^fix", "^follow up", "^format", "^generate", "^get", "^give", "^go through", "^handle", "^help", "^implement",
        "^import", "^improve", "^inspect", "^install", "^investigate", "^keep", "^list", "^look", "^make", "^measure", "^merge", "^migrate", "^monitor", "^move", "^notify", "^open", "^optimize", "^pause", "^ping", "^plan", "^post", "^prepare", "^profile", "^propose", "^publish", "^pull",
        "^push", "^put", "^rebase", "^rebuild", "^redo", "^refactor", "^release", "^remind", "^remove", "^rename", "^reopen", "^replace", "^reply", "^report", "^reproduce", "^rerun", "^re-run", "^research", "^reset", "^resolve", "^respond", "^restart", "^restore", "^resume", "^retry", "^revert",
        "^review", "^rewrite", "^roll back", "^rollback", "^rotate", "^run", "^save", "^scale", "^schedule", "^search", "^send", "^set", "^share", "^show", "^sort", "^start", "^submit", "^suggest", "^summarise", "^summarize", "^switch", "^sync", "^take", "^tell", "^test", "^track", "^translate", "^trigger",
        "^try", "^turn", "^update", "^upgrade", "^upload", "^use", "^validate", "^verify", "^wait for", "^watch", "^work on", "^write",
    ]),
    (Cue::Bidding, &["^do it", "^do that", "^do this", "^do so", "^do both", "^do them"]),
    (Cue::Assignment, &[
        "assigned to you", "assigning to you", "assigning this to you", "assigning it to you", "assign this to you", "assign you", "assigning you", "assigned you", "you are assigned", "you're assigned", "you own", "you are the owner", "you're the owner", "you're now the owner", "you are on point", "you're on point",
        "you are responsible", "you're responsible", "you're in charge", "you are in charge", "take over", "taking over from me is you", "take ownership", "please own", "your task", "your job is", "your assignment", "i assign", "handing this over to you", "handing this to you", "handing over to you", "handing it to you", "handing it over to you", "hand this over to you",
        "over to you", "this is yours", "this one is yours", "it's yours", "is yours now", "pick this up", "pick it up from here", "take this on", "take this over", "take this one", "take it from here", "can you own", "i want you to own", "^task", "^todo for you",
    ]),
    (Cue::Approval, &[
        "please approve", "pls approve", "need approval", "needs approval", "need your approval", "needs your approval", "need an approval", "need sign-off", "needs sign-off", "need your sign-off", "needs your sign-off", "need a sign-off", "need sign off", "needs sign off", "need your sign off", "needs your sign off", "need signoff", "sign off on", "sign-off on",
        "sign-off please", "please sign off", "approval needed", "approval required", "approval please", "awaiting approval", "awaiting your approval", "awaiting sign-off", "waiting for approval", "waiting for your approval", "waiting on approval", "waiting on your approval", "waiting for your sign-off", "requesting approval", "request approval", "requires approval", "requires your approval",
        "ready for approval", "ready for your approval", "can you approve", "could you approve", "can i get approval", "can i get your approval", "permission to", "give me the go-ahead", "need the go-ahead", "need a go-ahead", "need your go-ahead", "need your ok", "need your okay", "your go-ahead", "do you approve", "are you ok with me", "are you okay with me", "ok to merge", "ok to deploy",
        "ok to ship", "ok to release", "ok to proceed", "ok to go ahead", "okay to merge", "okay to deploy", "okay to proceed", "can i merge", "can i deploy", "can i ship", "can i release", "can i proceed", "may i merge", "may i deploy", "may i proceed", "shall i proceed", "shall i merge", "shall i deploy", "should i proceed", "should i merge", "should i deploy", "should i go ahead",
        "shall i go ahead", "can i go ahead", "may i go ahead", "good to merge", "good to deploy", "good to ship", "safe to merge", "safe to deploy",
    ]),
    (Cue::Approved, &[
        "^approved", "^lgtm", "^ship it", "^go ahead", "^approve", "^rejected", "^i approve", "^you have my approval", "^sign-off given", "^signed off",
    ]),
    (Cue::Blocker, &[
        "blocked on", "blocked by", "i'm blocked", "im blocked", "i am blocked", "we're blocked", "we are blocked", "is blocking", "are blocking", "blocking me", "blocking us", "blocking the", "blocks the release", "blocks us", "blocks me", "is a blocker", "^blocker", "^blocked", "release blocker", "can't proceed", "cannot proceed", "cant proceed", "unable to proceed", "can't continue", "cannot continue",
        "can't move forward", "cannot move forward", "stuck on", "i'm stuck", "i am stuck", "im stuck", "we're stuck", "we are stuck", "prod is down", "production is down", "prod is broken", "production is broken", "site is down", "the site's down", "server is down", "service is down", "api is down", "database is down", "db is down", "ci is down", "everything is down", "is on fire", "prod down",
        "outage", "main is broken", "master is broken", "build is broken", "the build is broken", "is completely down", "data loss", "waiting on you", "waiting for you to",
    ]),
    (Cue::Unblocked, &["unblocked", "not blocked", "no longer blocked", "no blocker", "no blockers", "not a blocker", "isn't blocking", "is not blocking", "not blocking", "back up"]),
    (Cue::Cancel, &[
        "^stop", "^cancel", "^abort", "^halt", "^nevermind", "^never mind", "^nvm", "^scratch that", "^scrap that", "^forget it", "^forget that", "^forget about it", "^forget about that", "^hold off", "^stand down", "^disregard", "^ignore that", "^ignore my last", "^ignore my previous", "^ignore the last", "^ignore the above", "^ignore this",
        "^don't do that", "^dont do that", "^do not do that", "^don't do it", "^dont do it", "^do not do it", "^kill the job", "^kill that", "^kill it", "^you can stop", "^please stop", "^can you stop", "^could you stop", "^can you cancel", "^could you cancel", "^please cancel", "^please abort", "^cease", "^no need anymore", "^no longer needed", "cancel that", "cancel the request", "cancel my request", "stop what you're doing",
        "stop what you are doing", "stop working on", "call it off",
    ]),
    (Cue::NotCancel, &["^stop by", "^stop in", "^stopped", "^cancelled", "^canceled", "^stop it's", "^stop words", "^stop lying", "^stop trolling"]),
    (Cue::Status, &[
        "^deployed", "^deploying", "^deploy finished", "^deploy complete", "^deploy succeeded", "^deploy failed", "^deployment", "^merged", "^released", "^shipped", "^rolled out", "^rolled back", "^fyi", "for your information", "^heads up", "^heads-up", "^build passed", "^build failed", "^build succeeded", "^build green", "^build finished", "^tests passed", "^tests pass", "^tests failed", "^all tests", "^ci passed",
        "^ci failed", "^ci green", "^pipeline", "build passed", "build succeeded", "build failed", "tests are green", "tests passed", "all checks passed", "all green", "^status", "^update", "^progress", "^standup", "^daily", "^summary", "^completed", "^finished", "^started", "^starting", "^running", "^uploading", "^downloading", "^compiling", "^building", "^testing", "^migrating", "^migrated", "^backup",
        "^published", "^new patchset", "^new review", "^info", "^warn", "^warning", "^debug", "^error", "^notice", "^done with", "^still running", "^still working on", "^now running", "^just deployed", "^just merged", "^just pushed", "^just released", "^pushed", "^committed", "^cron", "^scheduled", "^restarted", "^reverted", "is now live", "is live now", "has been deployed", "has been merged", "has been released", "is back up", "is back online", "was deployed", "were deployed", "was merged", "changed topic", "joined the channel", "left the channel",
    ]),
];

/// The rest of a phrase, whether it is anchored at the start, and what it signals.
struct Entry {
    rest: Vec<&'static str>,
    at_start: bool,
    cue: Cue,
}

type ByFirst = HashMap<&'static str, Vec<Entry>, BuildHasherDefault<Fnv>>;

/// FNV-1a. The table is fixed, so nobody can choose its keys, and words are short.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

static BY_FIRST: LazyLock<ByFirst> = LazyLock::new(|| {
    let mut by_first = ByFirst::default();
    for (cue, phrases) in PHRASES {
        for phrase in *phrases {
            let bare = phrase.strip_prefix('^').unwrap_or(phrase);
            let mut words = bare.split(' ');
            let first = words.next().unwrap_or_default();
            let entry =
                Entry { rest: words.collect(), at_start: bare.len() < phrase.len(), cue: *cue };
            by_first.entry(first).or_default().push(entry);
        }
    }
    by_first
});

/// Whether a word is an ordinary English word and not a name, so that `ok, go` does not address
/// somebody called "ok".
pub(super) fn is_word(word: &str) -> bool {
    BY_FIRST.contains_key(word)
        || matches!(
            word,
            "note"
                | "nb"
                | "ps"
                | "re"
                | "question"
                | "q"
                | "a"
                | "if"
                | "urgent"
                | "hence"
                | "first"
                | "second"
                | "finally"
                | "maybe"
                | "because"
                | "since"
                | "after"
                | "before"
                | "as"
        )
}

/// Every phrase that begins at `words[at]`: its cue and its number of words. `at_start` says
/// whether a sentence begins there.
pub(super) fn cues<'a>(
    words: &'a [&'a str],
    at: usize,
    at_start: bool,
) -> impl Iterator<Item = (Cue, usize)> + 'a {
    let entries =
        words.get(at).and_then(|first| BY_FIRST.get(first)).map_or(&[][..], Vec::as_slice);
    entries.iter().filter_map(move |entry| {
        let fits = (at_start || !entry.at_start)
            && words[at + 1..].len() >= entry.rest.len()
            && words[at + 1..].iter().zip(&entry.rest).all(|(word, want)| word == want);
        fits.then_some((entry.cue, entry.rest.len() + 1))
    })
}
