//! Who may ask, and for what: wrong hosts, origins and tokens, paths that lead elsewhere, too much, too slow.

mod common;

use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use common::{Bench, PORT};
use std::io::{Read, Write};
use std::net::TcpStream;
use ui::{Server, ServerOptions};

async fn status(bench: &Bench, headers: &[(&str, &str)]) -> StatusCode {
    let mut request = Request::builder().uri("/api/v1/files");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    bench.send(request.body(Body::empty()).unwrap()).await.status
}

#[tokio::test]
async fn the_host_must_be_this_server() {
    let bench = Bench::new(false);
    let token = format!("Bearer {}", bench.token.text());
    for host in ["127.0.0.1:4711", "localhost:4711", "[::1]:4711"] {
        assert_eq!(
            status(&bench, &[("host", host), ("authorization", &token)]).await,
            StatusCode::OK,
            "{host}"
        );
    }
    for host in
        ["evil.example:4711", "127.0.0.1", "127.0.0.1:80", "localhost", "127.0.0.1:4711.evil.example", ""]
    {
        let refused = status(&bench, &[("host", host), ("authorization", &token)]).await;
        assert_eq!(refused, StatusCode::FORBIDDEN, "{host}");
    }
    assert_eq!(status(&bench, &[("authorization", &token)]).await, StatusCode::FORBIDDEN);
    let two = [("host", "127.0.0.1:4711"), ("host", "evil.example"), ("authorization", &token)];
    assert_eq!(status(&bench, &two).await, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn other_origins_are_refused() {
    let bench = Bench::new(false);
    let (host, token) = (format!("127.0.0.1:{PORT}"), format!("Bearer {}", bench.token.text()));
    let own = format!("http://127.0.0.1:{PORT}");
    let with = |origin| [("host", host.clone()), ("authorization", token.clone()), ("origin", origin)];
    for (origin, expected) in [
        (own, StatusCode::OK),
        ("http://evil.example".to_string(), StatusCode::FORBIDDEN),
        ("https://127.0.0.1:4711".to_string(), StatusCode::FORBIDDEN),
        ("null".to_string(), StatusCode::FORBIDDEN),
    ] {
        let headers = with(origin.clone());
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        assert_eq!(status(&bench, &headers).await, expected, "{origin}");
    }
}

#[tokio::test]
async fn the_token_is_needed_and_nothing_is_allowed_to_others() {
    let bench = Bench::new(false);
    let host = format!("127.0.0.1:{PORT}");
    let digits = bench.token.text();
    assert_eq!(digits.len(), 32);
    let almost = format!("Bearer {}", &digits[..31]);
    for given in ["", "Bearer ", "Bearer 00000000000000000000000000000000", &almost, digits] {
        let refused = status(&bench, &[("host", &host), ("authorization", given)]).await;
        assert_eq!(refused, StatusCode::UNAUTHORIZED, "{given}");
    }
    let answer = bench.get("/files").await;
    assert!(!answer.headers.contains_key("access-control-allow-origin"));
    assert!(answer.headers["content-security-policy"].to_str().unwrap().starts_with("default-src 'none'"));
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("cache-control", "no-store"),
        ("referrer-policy", "no-referrer"),
    ] {
        assert_eq!(answer.headers[name], value);
    }
}

#[tokio::test]
async fn only_files_of_the_folder_are_read() {
    let bench = Bench::new(false);
    let outside = bench.root.with_extension("secret.pml");
    std::fs::write(&outside, "secret").unwrap();
    let name = outside.file_name().unwrap().to_str().unwrap();
    let paths = [
        format!("../{name}"),
        format!("%2e%2e/{name}"),
        format!("inner/../../{name}"),
        format!("..%2f{name}"),
        format!("/{}", outside.display()),
        "/etc/passwd".to_string(),
        "%00".to_string(),
    ];
    for path in paths {
        let answer = bench.get(&format!("/files/{path}")).await;
        assert!(
            answer.status.is_client_error() && !answer.body.contains("secret"),
            "{path}: {}",
            answer.status
        );
    }
    // What a model includes, and where macros lead.
    let including = format!("#include \"../{name}\"\nactive proctype p() {{ skip }}\n");
    let answer = bench.post("/analyse", serde_json::json!({"path": "m.pml", "text": including})).await;
    assert!(answer.body.contains("diagnostics") && !answer.body.contains("\"secret\""), "{}", answer.body);
    assert!(!answer.body.contains("\"properties\""));
    std::fs::remove_file(outside).unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn links_do_not_lead_out() {
    let bench = Bench::new(false);
    let outside = bench.root.with_extension("linked");
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(outside.join("s.pml"), "secret").unwrap();
    std::os::unix::fs::symlink(&outside, bench.root.join("away")).unwrap();
    std::os::unix::fs::symlink(outside.join("s.pml"), bench.root.join("link.pml")).unwrap();
    for path in ["away/s.pml", "link.pml"] {
        assert_eq!(bench.get(&format!("/files/{path}")).await.status, StatusCode::FORBIDDEN, "{path}");
        let put = bench.request(Method::PUT, &format!("/files/{path}")).body(Body::from("mine")).unwrap();
        assert!(bench.send(put).await.status.is_client_error(), "{path}");
    }
    assert_eq!(std::fs::read_to_string(outside.join("s.pml")).unwrap(), "secret");
    assert!(!bench.get("/files").await.body.contains("s.pml"));
    std::fs::remove_dir_all(outside).unwrap();
}

#[tokio::test]
async fn only_models_are_written_and_only_where_it_is_allowed() {
    let put = |bench: &Bench, path: &str| {
        bench.request(Method::PUT, &format!("/files/{path}")).body(Body::from("byte x;")).unwrap()
    };
    let bench = Bench::new(false);
    for path in ["run.sh", ".bashrc", "m.pml.bak", "nowhere/n.pml", "inner"] {
        assert_eq!(bench.send(put(&bench, path)).await.status, StatusCode::FORBIDDEN, "{path}");
    }
    assert_eq!(bench.send(put(&bench, "new.pml")).await.status, StatusCode::NO_CONTENT);
    let closed = Bench::new(true);
    assert_eq!(closed.send(put(&closed, "new.pml")).await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn too_much_is_refused() {
    let bench = Bench::new(false);
    let large = "x".repeat((ui::folder::MOST_BYTES + 1) as usize);
    let put = bench.request(Method::PUT, "/files/new.pml").body(Body::from(large.clone())).unwrap();
    assert_eq!(bench.send(put).await.status, StatusCode::PAYLOAD_TOO_LARGE);
    std::fs::write(bench.root.join("large.pml"), large).unwrap();
    assert_eq!(bench.get("/files/large.pml").await.status, StatusCode::PAYLOAD_TOO_LARGE);
}

/// Whatever option names a file that a check writes, also one that is added later, is not for pages; nor are those that
/// let C run.
#[tokio::test]
async fn no_option_of_a_page_writes_a_file() {
    let bench = Bench::new(false);
    let place = bench.root.join("written");
    let writing: Vec<_> =
        engine::options::TABLE.iter().filter(|spec| ui::checks::is_kept_from_pages(spec)).collect();
    assert!(
        ["trail", "report", "certify", "checkpoint", "checkpoint-every", "resume", "allow-c", "c-source"]
            .iter()
            .all(|name| writing.iter().any(|spec| spec.name == *name))
    );
    let info = bench.get("/info").await.json();
    let offered =
        |name: &str| info["options"].as_array().unwrap().iter().any(|option| option["name"] == name);
    assert!(offered("exec") && offered("max-states"));
    for spec in writing {
        assert!(!offered(spec.name), "--{}", spec.name);
        let name = format!("--{}", spec.name);
        let options = match spec.placeholder {
            "" => serde_json::json!([name]),
            "TIME" => serde_json::json!([name, "5"]),
            _ => serde_json::json!([name, place]),
        };
        for (address, body) in [
            ("/checks", serde_json::json!({"path": "m.pml", "options": options})),
            ("/memory", serde_json::json!({"system": "atomic", "rules": ["cmp"], "options": options})),
        ] {
            let answer = bench.post(address, body).await;
            assert_eq!(answer.status, StatusCode::BAD_REQUEST, "--{}: {}", spec.name, answer.body);
        }
    }
    assert!(!place.exists());
}

/// Everything that a check reads is in the folder: the model, what it includes, a claim, a memory system.
#[tokio::test]
async fn checks_read_nothing_outside() {
    let bench = Bench::new(false);
    let outside = bench.root.with_extension("outside.pml");
    std::fs::write(&outside, "#define SECRET 987654321\nnever { do :: SECRET od }\n").unwrap();
    let name = format!("../{}", outside.file_name().unwrap().to_str().unwrap());
    let include = format!("#include \"{name}\"\nactive proctype p() {{ assert(SECRET == 42) }}\n");
    for (address, body) in [
        ("/checks", serde_json::json!({"path": name})),
        ("/checks", serde_json::json!({"path": outside})),
        ("/checks", serde_json::json!({"path": "m.pml", "text": include})),
        ("/checks", serde_json::json!({"path": "m.pml", "options": ["--claim", name]})),
        ("/checks", serde_json::json!({"path": "m.pml", "options": ["--claim", outside]})),
        ("/memory", serde_json::json!({"model": {"path": name}, "rules": ["cmp"]})),
    ] {
        let begun = bench.post(address, body.clone()).await;
        if begun.status != StatusCode::OK {
            continue;
        }
        let address = format!("/checks/{}", begun.json()["id"]);
        let done = loop {
            let now = bench.get(&address).await;
            if now.json()["state"] == "done" {
                break now;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        };
        assert!(done.json()["report"].is_null() && !done.body.contains("987654321"), "{body}: {}", done.body);
    }
    std::fs::remove_file(outside).unwrap();
}

/// Over a real socket: the address is that of this machine, and who sends nothing holds nobody up.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_client_holds_nobody_up() {
    let bench = Bench::new(false);
    let options = ServerOptions { read_only: true, ..ServerOptions::default() };
    let server = Server::bind(&bench.root, &options).await.unwrap();
    let (address, url) = (server.address(), server.url());
    assert!(
        address.ip().is_loopback()
            && url.starts_with(&format!("http://127.0.0.1:{}/#token=", address.port()))
    );
    let token = url.split_once("#token=").unwrap().1.to_string();
    tokio::spawn(server.run());
    let answer = tokio::task::spawn_blocking(move || {
        let mut slow = Vec::new();
        for _ in 0..50 {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(b"GET /api/v1/files HTTP/1.1\r\nHost: ").unwrap();
            slow.push(stream);
        }
        let mut stream = TcpStream::connect(address).unwrap();
        let request = format!(
            "GET /api/v1/files HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    });
    let answer = answer.await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.contains("m.pml"), "{answer}");
}

/// Requests of all kinds with parts of real ones: each is answered, nothing is served without the token, and
/// the server is the same afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn random_requests_are_answered_and_change_nothing() {
    let bench = Bench::new(true);
    let options = ServerOptions { read_only: true, ..ServerOptions::default() };
    let server = Server::bind(&bench.root, &options).await.unwrap();
    let (address, url) = (server.address(), server.url());
    let token = url.split_once("#token=").unwrap().1.to_string();
    tokio::spawn(server.run());
    let work = move || {
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..600 {
            let request = fuzzed(&mut seed, &address.to_string(), &token);
            let mut stream = TcpStream::connect(address).unwrap();
            stream.set_read_timeout(Some(std::time::Duration::from_secs(10))).unwrap();
            // The server may close before everything was sent.
            let _ = stream.write_all(&request);
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer);
            let answer = String::from_utf8_lossy(&answer);
            assert!(!answer.starts_with("HTTP/1.1 5"), "{}\n{answer}", String::from_utf8_lossy(&request));
            assert!(!answer.contains("access-control-allow"), "{answer}");
        }
    };
    tokio::task::spawn_blocking(work).await.unwrap();
    assert_eq!(bench.get("/files").await.status, StatusCode::OK);
    assert_eq!(std::fs::read_to_string(bench.root.join("m.pml")).unwrap(), common::MODEL);
}

/// A request made of parts; every third has its bytes disturbed.
fn fuzzed(seed: &mut u64, host: &str, token: &str) -> Vec<u8> {
    let mut next = |most: usize| {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        (*seed % most as u64) as usize
    };
    let mut pick = |list: &[&str]| list[next(list.len())].to_string();
    let method = pick(&["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "", "G\0T"]);
    let path = pick(&[
        "/",
        "/app.js",
        "/info",
        "/files",
        "/files/m.pml",
        "/files/..%2f..%2fetc/passwd",
        "/checks",
        "/checks/1",
        "/runs",
        "/runs/1/take",
        "/runs/1/find",
        "/runs/1/graph",
        "/runs/1/judge",
        "/runs/1/table?from=-1",
        "/runs/1/turns?from=18446744073709551615",
        "/runs/1/path",
        "/runs/1/retrace",
        "/checks/1/memory/..%2f..",
        "/checks/1/trails/0",
        "/memory",
        "/analyse",
        "/ltl",
        "/command",
        "/runs/99999999999999999999/steps",
        "/%ff%fe",
    ]);
    let prefix = pick(&["/api/v1", "/api/v1", "/api/v1", ""]);
    let host = pick(&[host, host, host, "evil.example"]);
    let token = pick(&[token, token, token, "", "x"]);
    let body = pick(&[
        "",
        "{}",
        "[1,2",
        "null",
        "{\"path\":\"../x\"}",
        "{\"formula\":\"[][][][]((((\"}",
        "{\"simulate\":{\"path\":\"m.pml\"}}",
        "{\"moment\":0,\"choices\":[0,18446744073709551615]}",
        "{\"system\":\"../tso\",\"litmus\":[\"SB\"],\"cpus\":99}",
        "{\"moment\":18446744073709551615,\"depth\":99}",
        "{\"from\":1,\"text\":\"\\u0000\"}",
        "{\"path\":\"m.pml\",\"options\":[\"--threads\",\"-1\"]}",
    ]);
    let length = pick(&[&body.len().to_string(), &body.len().to_string(), "-1", "99999999999999999999"]);
    let mut bytes = format!(
        "{method} {prefix}{path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nContent-Type: \
         application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
    .into_bytes();
    if next(3) == 0 {
        for _ in 0..3 {
            let at = next(bytes.len());
            bytes[at] = next(256) as u8;
        }
    }
    bytes
}
