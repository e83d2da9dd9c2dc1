//! A server without a socket, for the models of a folder that is removed at the end.

#![allow(dead_code, reason = "each test file uses its share")]

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, StatusCode};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tower::ServiceExt;
use ui::api::{Shared, router};
use ui::folder::Folder;
use ui::guard::Token;

pub const PORT: u16 = 4711;

/// A model with a deadlock after five steps.
pub const MODEL: &str = "\
chan q = [1] of { byte };
active proctype sender() { q!1; q!2 }
active proctype receiver() { byte x; q?x; q?x; q?x }
";

/// A folder and its server.
pub struct Bench {
    pub root: PathBuf,
    pub router: Router,
    pub token: Token,
}

/// An answer.
pub struct Answer {
    pub status: StatusCode,
    pub headers: axum::http::HeaderMap,
    pub body: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.body))
    }
}

impl Bench {
    pub fn new(read_only: bool) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("spinor-ui-{}-{number}", std::process::id()));
        std::fs::create_dir_all(root.join("inner")).unwrap();
        std::fs::write(root.join("m.pml"), MODEL).unwrap();
        std::fs::write(root.join("inner/n.pml"), "active proctype p() { skip }\n").unwrap();
        let token = Token::random().unwrap();
        let shared = Arc::new(Shared::new(Folder::open(&root, read_only).unwrap()));
        let router = router(shared, ui::page::Pages::default(), &token, PORT);
        Bench { root, router, token }
    }

    /// A request as the page makes it.
    pub fn request(&self, method: Method, path: &str) -> axum::http::request::Builder {
        Request::builder()
            .method(method)
            .uri(format!("/api/v1{path}"))
            .header("host", format!("127.0.0.1:{PORT}"))
            .header("authorization", format!("Bearer {}", self.token.text()))
    }

    pub async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        let bytes = to_bytes(response.into_body(), 64 << 20).await.unwrap();
        Answer { status, headers, body: String::from_utf8(bytes.to_vec()).unwrap() }
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path).body(Body::empty()).unwrap()).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        let request = self.request(Method::POST, path).header("content-type", "application/json");
        self.send(request.body(Body::from(body.to_string())).unwrap()).await
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.root);
    }
}
