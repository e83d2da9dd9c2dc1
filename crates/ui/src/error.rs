//! What is said when a request cannot be met: `{"error": {code, message, help}}` with a status of 4xx or 5xx.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use engine::Failure;
use serde_json::{Value, json};

/// A request that cannot be met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    status: StatusCode,
    code: &'static str,
    message: String,
    help: Option<String>,
}

impl ApiError {
    /// An error with its status and a code for programs.
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        ApiError { status, code, message: message.into(), help: None }
    }

    /// There is no such thing.
    pub fn missing(what: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "missing", what)
    }

    /// The request makes no sense.
    pub fn bad(why: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad-request", why)
    }

    /// It is not allowed.
    pub fn forbidden(why: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", why)
    }
}

impl From<Failure> for ApiError {
    fn from(failure: Failure) -> Self {
        let (status, code) = match &failure {
            Failure::Model => (StatusCode::UNPROCESSABLE_ENTITY, "model"),
            Failure::Refused { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "refused"),
            Failure::Stopped(_) | Failure::Incomplete { .. } => (StatusCode::CONFLICT, "stopped"),
            Failure::Internal(_) | Failure::Unwritten { .. } => {
                (StatusCode::INTERNAL_SERVER_ERROR, "internal")
            }
        };
        let notice = failure.notice();
        let message =
            notice.as_ref().map_or_else(|| "the model has errors".to_string(), |n| n.message.clone());
        ApiError { status, code, message, help: notice.and_then(|notice| notice.help) }
    }
}

impl ApiError {
    /// What is said.
    pub fn object(&self) -> Value {
        json!({"code": self.code, "message": self.message, "help": self.help})
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status, Json(json!({"error": self.object()}))).into_response()
    }
}
