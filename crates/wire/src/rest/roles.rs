//! `/v1/roles`: named groups of members (`@backend-agents`). `PUT` and `DELETE
//! /v1/roles/{name}/members/{id}` have no body; they answer with the [`Role`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `POST /v1/roles` -> 201 [`Role`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRole {
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Role {
    pub name: String,
    /// Member ids.
    pub members: Vec<String>,
}

/// `GET /v1/roles`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Roles {
    pub roles: Vec<Role>,
}
