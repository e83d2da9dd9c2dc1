//! The server of the workbench: models of one folder, checks and runs, over HTTP on this machine alone.
//!
//! Everything is under `/api/v1`, as JSON. [`guard`] decides who may ask (loopback, token, `Host`, `Origin`),
//! [`folder`] which files there are, [`checks`] and [`runs`] keep what was begun, [`api`] is the table of
//! addresses; `model_api`, `run_api` and `memory_api` answer what is asked about options, formulas, runs
//! and memory systems, `memory_test` asks such a system; [`page`] serves the page that asks.
//! The engine stays synchronous: handlers wait for it on threads of their own.

pub mod api;
pub mod checks;
pub mod error;
pub mod folder;
pub mod guard;
mod memory_api;
mod memory_test;
mod model_api;
pub mod page;
mod run_api;
pub mod runs;

use api::Shared;
use axum::Router;
use folder::Folder;
use guard::Token;
use page::Pages;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use stop::Stop;
use tokio::net::TcpListener;

/// What is served.
#[derive(Clone, Debug, Default)]
pub struct ServerOptions {
    /// The port; 0 takes a free one.
    pub port: u16,
    /// No file is written.
    pub read_only: bool,
    /// The model that is shown first, by its path in the folder.
    pub model: Option<String>,
    /// Where the page is read from, instead of the program: for those who work on it.
    pub assets: Option<PathBuf>,
}

/// How often a wish to stop is looked for.
const LOOK: Duration = Duration::from_millis(100);

/// Serves the models below a folder until it is to `stop`. `begun` is told the address for a browser once there
/// is one; requests that come before it returns wait.
pub fn serve(root: &Path, options: &ServerOptions, stop: &Stop, begun: impl FnOnce(&str)) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(async {
        let server = Server::bind(root, options).await?;
        begun(&server.url());
        let stopped = async {
            while !stop.is_asked() {
                tokio::time::sleep(LOOK).await;
            }
        };
        tokio::select! {
            served = server.run() => served,
            () = stopped => Ok(()),
        }
    });
    // Whoever still waits for an answer gets none.
    runtime.shutdown_background();
    served
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
        let shared = Arc::new(Shared::new(folder).showing(options.model.clone()));
        let router = api::router(shared, Pages { folder: options.assets.clone() }, &token, address.port());
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
