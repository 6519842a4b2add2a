//! The weights of the flow of talk. `cargo xtask bench attention DIR --fit` prints a new version of
//! this table.
//!
//! Computed from annotated lines of fifteen IRC rooms. Each rule's worth is stated at its name
//! ([`Clue`]).

use crate::model::flow::Clue;

signs! {
    NobodyAtAll: Shape, 0.29;
    NobodyAsks: Shape, 0.29;
    NobodyLong: Shape, 0.47;
    NobodyShort: Shape, 0.14;
    NobodyHelp: Shape, 0.74;
    NobodyNew: FirstWords, 0.26;
    NobodyNewAsks: FirstWords, 0.82;
    NobodyNewGreets: FirstWords, 0.78;
    NobodyNewToAll: FirstWords, 0.79;
    NobodyToAll: ToAll, 0.55;
    NobodySecond: SecondPerson, -0.63;
    NobodyGreets: Courtesy, 0.80;
    NobodyAssents: Assent, -0.86;
    NobodyBefore: OwnLine, 0.96;
    NobodyBeforeAge: OwnLine, -0.42;
    NobodyBeforeAddressed: OwnLine, -0.65;
    NobodyAddressed: Answer, -0.70;
    Silent: Lately, -2.89;
    SpokeAge: Lately, -2.23;
    SpokeLines: Lately, -2.76;
    SpokeAsks: Lately, 0.05;
    OpenQuestion: OpenQuestion, 0.12;
    OpenQuestionLines: OpenQuestion, -0.70;
    SpokeToOther: Exchange, -0.42;
    Before: JustBefore, -0.10;
    BeforeToOther: JustBefore, -0.13;
    BeforeAssent: JustBefore, 0.72;
    BeforeShort: JustBefore, 0.68;
    BeforeNew: JustBefore, 0.29;
    ToMe: Answer, 0.41;
    ToMeAge: Answer, -0.26;
    ToMeLines: Answer, -0.16;
    ToMeLatest: Answer, 0.35;
    UnansweredAsks: Answer, 0.42;
    UnansweredNamed: Answer, 0.69;
    UnansweredFirst: Answer, 0.25;
    ToMeNamed: Answer, 0.56;
    ToMeTheirLast: Answer, 0.20;
    FromMe: Exchange, 0.97;
    FromMeAge: Exchange, -0.57;
    FromMeLines: Exchange, -0.66;
    GoesOn: OwnLine, 0.62;
    GoesOnAge: OwnLine, -0.79;
    GoesOnLines: OwnLine, -0.98;
    GoesOnNamed: OwnLine, 0.26;
    BothWays: Exchange, -1.09;
    Exchanges: Exchange, 0.55;
    MineToOthers: Exchange, 0.01;
    TheirsToOthers: Exchange, -0.13;
    Named: Passing, 3.03;
    NamedLast: Passing, 1.77;
    SharesOne: SharedWords, 0.57;
    SharesTwo: SharedWords, 0.47;
    SharesPart: SharedWords, 0.90;
    Second: SecondPerson, 0.63;
    ThanksToMe: Courtesy, 0.81;
    ThanksNotToMe: Courtesy, -0.67;
    AssentToMe: Assent, 0.41;
    AsksThem: Shape, -0.29;
    Stranger: FirstWords, -0.25;
    ToAllThem: ToAll, -0.55;
    GreetsThem: Courtesy, -0.80;
    GreetsBack: Courtesy, 0.45;
    OnlySince: JustBefore, -0.43;
    SpokeSince: JustBefore, 0.38;
    LinesSince: JustBefore, 0.38;
    NobodyOthersSince: OwnLine, 0.35;
    SharesPartner: Exchange, 0.74;
    BeforeToThem: Exchange, 0.21;
    JustNow: JustBefore, -0.63;
    ToMeSure: Answer, 0.44;
    FromMeSure: Exchange, 0.75;
    GoesOnSure: OwnLine, 0.58;
    NotAddressed: OpenQuestion, 0.21;
    NotAddressedLines: OpenQuestion, -0.82;
    BeforeGoesOn: JustBefore, -0.65;
    AdvisesAsker: OpenQuestion, 0.86;
    NobodyFirstPerson: Shape, 0.49;
    SharesLast: SharedWords, 0.72;
    SharesLastRarely: SharedWords, 1.43;
    NobodyOwnSubject: SharedWords, 0.80;
    Monologue: Exchange, 0.57;
}
