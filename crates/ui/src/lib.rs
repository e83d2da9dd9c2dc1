//! The server of the workbench: models of one folder, checks and runs, over HTTP on this machine alone.
//!
//! Everything is under `/api/v1`, as JSON. [`guard`] decides who may ask (loopback, token, `Host`, `Origin`),
//! [`folder`] which files there are, [`checks`] and [`runs`] keep what was begun, [`api`] is the table of
//! addresses. The engine stays synchronous: handlers wait for it on threads of their own.

pub mod api;
pub mod checks;
pub mod error;
pub mod folder;
pub mod guard;
pub mod runs;

use api::Shared;
use axum::Router;
use folder::Folder;
use guard::Token;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use tokio::net::TcpListener;

/// What is served.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The port; 0 takes a free one.
    pub port: u16,
    /// No file is written.
    pub read_only: bool,
}

/// A server that has its port and waits for its first request.
pub struct Server {
    listener: TcpListener,
    router: Router,
    token: Token,
    address: SocketAddr,
}

impl Server {
    /// Binds a port of the loopback interface for the models below a folder.
    pub async fn bind(root: &Path, options: &ServerOptions) -> io::Result<Server> {
        let folder = Folder::open(root, options.read_only)?;
        let token = Token::random()?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).await?;
        let address = listener.local_addr()?;
        let router = api::router(Arc::new(Shared::new(folder)), &token, address.port());
        Ok(Server { listener, router, token, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address for a browser. The token is in the fragment, which is never sent.
    pub fn url(&self) -> String {
        format!("http://{}/#token={}", self.address, self.token.text())
    }

    /// Serves until the process ends.
    pub async fn run(self) -> io::Result<()> {
        axum::serve(self.listener, self.router).await
    }
}
