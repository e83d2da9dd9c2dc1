//! The page itself: one document, two scripts (the page, and the editor, for which the first paint does not
//! wait), one style sheet and an icon, which are built from `web/`, checked in under `dist/` and part of the
//! program.
//!
//! The document needs no token: it holds nothing but the page. Its policy allows style sheets that carry the
//! number of this very answer (the editor makes some), and scripts from here alone.

use crate::error::ApiError;
use axum::Router;
use axum::http::HeaderName;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the document has where the number of an answer is to be.
const NONCE: &str = "@NONCE@";
/// The pictures' own style sheet, so that there is one.
const DRAWING: &str = draw::style::SHEET;

/// Name, type, content.
type Asset = (&'static str, &'static str, &'static [u8]);

const ASSETS: [Asset; 5] = [
    ("index.html", "text/html; charset=utf-8", include_bytes!("../dist/index.html")),
    ("app.js", "text/javascript; charset=utf-8", include_bytes!("../dist/app.js")),
    ("editor.js", "text/javascript; charset=utf-8", include_bytes!("../dist/editor.js")),
    ("app.css", "text/css; charset=utf-8", include_bytes!("../dist/app.css")),
    ("icon.svg", "image/svg+xml", include_bytes!("../dist/icon.svg")),
];

/// Where the page comes from.
#[derive(Clone, Debug, Default)]
pub struct Pages {
    /// Read anew for each request, for those who work on the page; the program has its own.
    pub folder: Option<PathBuf>,
}

impl Pages {
    fn content(&self, (name, _, own): Asset) -> Result<Vec<u8>, ApiError> {
        let read = |folder: &Path| {
            std::fs::read(folder.join(name)).map_err(|why| ApiError::missing(format!("{name}: {why}")))
        };
        self.folder.as_deref().map_or_else(|| Ok(own.to_vec()), read)
    }

    /// The addresses of the page.
    pub fn router<S: Clone + Send + Sync + 'static>(self) -> Router<S> {
        let pages = Arc::new(self);
        let document = Arc::clone(&pages);
        let mut router = Router::new().route("/", get(move || async move { document.document() }));
        for asset in ASSETS.into_iter().skip(1) {
            let pages = Arc::clone(&pages);
            router = router.route(&format!("/{}", asset.0), get(move || async move { pages.asset(asset) }));
        }
        let sheet = || async { ([(CONTENT_TYPE, "text/css; charset=utf-8")], DRAWING) };
        router.route("/drawing.css", get(sheet))
    }

    fn asset(&self, asset: Asset) -> Result<Response, ApiError> {
        Ok(([(CONTENT_TYPE, asset.1)], self.content(asset)?).into_response())
    }

    fn document(&self) -> Result<Response, ApiError> {
        let mut bytes = [0u8; 16];
        getrandom::fill(&mut bytes).map_err(|why| ApiError::bad(why.to_string()))?;
        let nonce: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let text = String::from_utf8_lossy(&self.content(ASSETS[0])?).replace(NONCE, &nonce);
        let headers: [(HeaderName, String); 2] =
            [(CONTENT_TYPE, ASSETS[0].1.to_string()), (CONTENT_SECURITY_POLICY, policy(&nonce))];
        Ok((headers, text).into_response())
    }
}

fn policy(nonce: &str) -> String {
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; connect-src 'self'; \
         img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}
