//! Who may ask.
//!
//! The server listens on the loopback interface, but every page that a browser shows can send requests there.
//! So each request must name this server in `Host` (a foreign name that was made to resolve to 127.0.0.1 does
//! not: DNS rebinding), `Origin` must be ours where there is one, and all of `/api` needs the token, which
//! only the printed address has. No header allows other origins anything. Answers carry a policy under which
//! the page runs only its own script, and are neither sniffed, nor stored, nor told to others.

use crate::error::ApiError;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::io;
use std::sync::Arc;

/// 128 bits from the system, as hexadecimal digits.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// A new one.
    pub fn random() -> io::Result<Token> {
        let mut bytes = [0u8; 16];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Token(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// The digits.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Compares in a time that does not depend on where the first difference is.
    fn is(&self, given: &str) -> bool {
        let (own, given) = (self.0.as_bytes(), given.as_bytes());
        let differences = own.iter().zip(given).fold(0u8, |all, (a, b)| all | (a ^ b));
        own.len() == given.len() && differences == 0
    }
}

/// What a request is compared with.
#[derive(Clone)]
pub struct Guard {
    token: Token,
    port: u16,
}

impl Guard {
    /// Lets in who has the token and names this port.
    pub fn new(token: &Token, port: u16) -> Arc<Self> {
        Arc::new(Guard { token: token.clone(), port })
    }

    fn hosts(&self) -> [String; 3] {
        ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{}", self.port))
    }

    fn admits(&self, path: &str, headers: &HeaderMap) -> Result<(), ApiError> {
        let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        let hosts = self.hosts();
        if headers.get_all(HOST).iter().count() != 1
            || !text(HOST).is_some_and(|host| hosts.contains(&host.to_string()))
        {
            return Err(ApiError::forbidden("this server answers only to its own address"));
        }
        if headers.contains_key(ORIGIN) {
            let own = |origin: &str| hosts.iter().any(|host| origin == format!("http://{host}"));
            if !text(ORIGIN).is_some_and(own) {
                return Err(ApiError::forbidden("requests of other origins are refused"));
            }
        }
        let given = text(AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
        if path.starts_with("/api") && !given.is_some_and(|given| self.token.is(given)) {
            return Err(ApiError::new(StatusCode::UNAUTHORIZED, "token", "the token is missing or wrong"));
        }
        Ok(())
    }
}

/// What every answer says about itself.
const HEADERS: [(&str, &str); 5] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("cache-control", "no-store"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
];

/// Refuses what may not ask, and says of every answer what may be done with it.
pub async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let mut response = match guard.admits(request.uri().path(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    for (name, value) in HEADERS {
        // A report has a policy of its own, which is stricter.
        let name = HeaderName::from_static(name);
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}
