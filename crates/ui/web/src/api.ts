// Requests to the server. The token comes in the fragment of the address, which is never sent; it is moved to the
// storage of this tab and taken out of the address.

const KEY = "spinor-token";

function takeToken(): string {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    sessionStorage.setItem(KEY, given);
    history.replaceState(null, "", location.pathname);
  }
  return given ?? sessionStorage.getItem(KEY) ?? "";
}

/** Takes the token out of a printed address and begins anew; false where there is none. */
export function giveToken(address: string): boolean {
  const given = address.match(/token=([0-9a-f]{32})\b/)?.[1];
  if (!given) return false;
  sessionStorage.setItem(KEY, given);
  location.reload();
  return true;
}

const token = takeToken();
export const hasToken = token !== "";

export class ApiError extends Error {
  constructor(readonly status: number, message: string, readonly help: string | null, readonly body: any) {
    super(message);
  }
}

async function ask(method: string, path: string, options: { body?: BodyInit; headers?: Record<string, string> } = {}): Promise<Response> {
  const headers = { Authorization: `Bearer ${token}`, ...options.headers };
  let response: Response;
  try {
    response = await fetch(`/api/v1${path}`, { method, headers, body: options.body });
  } catch {
    throw new ApiError(0, "the server does not answer: was it stopped?", null, null);
  }
  if (response.ok) return response;
  const text = await response.text();
  let body: any = null;
  try { body = JSON.parse(text); } catch { /* no JSON: the status says it */ }
  throw new ApiError(response.status, body?.error?.message ?? `${response.status} ${text.slice(0, 200)}`, body?.error?.help ?? null, body);
}

export async function get<T>(path: string): Promise<T> {
  return (await ask("GET", path)).json();
}

export async function getText(path: string): Promise<{ text: string; etag: string }> {
  const response = await ask("GET", path);
  return { text: await response.text(), etag: response.headers.get("etag") ?? "" };
}

export async function post<T>(path: string, body: unknown): Promise<T> {
  return (await ask("POST", path, { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } })).json();
}

export async function remove(path: string): Promise<void> {
  await ask("DELETE", path);
}

export async function put(path: string, text: string, etag: string | null): Promise<string> {
  const headers: Record<string, string> = { "Content-Type": "text/plain; charset=utf-8" };
  if (etag) headers["If-Match"] = etag;
  return (await ask("PUT", path, { body: text, headers })).headers.get("etag") ?? "";
}

/** Fetches a file with the token and hands it to the browser as a download. */
export async function download(path: string, name: string): Promise<void> {
  const blob = await (await ask("GET", path)).blob();
  save(blob, name);
}

export function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Listens to what happens, until the page goes; a broken connection is made anew. `EventSource` sends no headers. */
export async function listen(hear: (kind: string, data: any) => void, state: (connected: boolean) => void): Promise<never> {
  for (;;) {
    try {
      const reader = (await ask("GET", "/events")).body!.pipeThrough(new TextDecoderStream()).getReader();
      state(true);
      let text = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        text += value;
        const parts = text.split("\n\n");
        text = parts.pop()!;
        for (const part of parts) {
          const field = (name: string) =>
            part.split("\n").filter(line => line.startsWith(`${name}:`)).map(line => line.slice(name.length + 1).trim()).join("\n");
          if (field("data")) hear(field("event"), JSON.parse(field("data")));
        }
      }
    } catch { /* said below */ }
    state(false);
    await new Promise(resolve => setTimeout(resolve, 1000));
  }
}
