//! Dispositions: how deliveries end.

/// How a delivery ended (C2A "Event disposition").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Disposition {
    Responded,
    Acknowledged,
    Deferred,
    Claimed,
    Ignored,
    Superseded,
    Failed,
}

impl Disposition {
    pub const ALL: [Self; 7] = [
        Self::Responded,
        Self::Acknowledged,
        Self::Deferred,
        Self::Claimed,
        Self::Ignored,
        Self::Superseded,
        Self::Failed,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Responded => "responded",
            Self::Acknowledged => "acknowledged",
            Self::Deferred => "deferred",
            Self::Claimed => "claimed",
            Self::Ignored => "ignored",
            Self::Superseded => "superseded",
            Self::Failed => "failed",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|d| d.name() == name)
    }
}

impl Disposition {
    /// Whether the matter is closed for this member, so that nothing is offered again. `claimed`
    /// only says who holds it, and a `deferred` one comes back.
    pub fn settles(self) -> bool {
        !matches!(self, Self::Claimed | Self::Deferred)
    }
}
