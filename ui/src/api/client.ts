import { embedded, isFile } from "./embedded";
import { session } from "./session";

const BASE = "/api/v2";

/** An answer that is no success, or no answer at all (status 0). */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly detail: string,
    readonly reference: string | null = null,
  ) {
    super(detail);
    this.name = "ApiError";
  }
}

type Params = Record<string, string | number | undefined>;

type Options = {
  method?: "GET" | "POST" | "PUT" | "DELETE";
  params?: Params;
  json?: unknown;
  form?: FormData;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
};

/** The address of an endpoint, or of an extension's; undefined or empty parameters are left out. */
export function address(path: string, params: Params = {}): string {
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== "");
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  const base = path.startsWith("/api/") ? "" : BASE;
  return `${base}${path}${given.length ? `?${search}` : ""}`;
}

async function failure(answer: Response): Promise<ApiError> {
  const body: unknown = await answer.json().catch(() => null);
  if (body && typeof body === "object" && "detail" in body && typeof body.detail === "string") {
    const reference = "reference" in body ? String(body.reference) : null;
    return new ApiError(answer.status, body.detail, reference);
  }
  return new ApiError(answer.status, `The server answered ${answer.status} ${answer.statusText}`);
}

/** The response to a request; anything but a success is thrown as an ApiError. */
export async function send(path: string, options: Options = {}): Promise<Response> {
  const { method = "GET", params, json, form, headers, signal } = options;
  let answer: Response;
  try {
    answer = await fetch(address(path, params), {
      method,
      headers: {
        ...(json === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
      body: form ?? (json === undefined ? null : JSON.stringify(json)),
      signal: signal ?? null,
    });
  } catch (problem) {
    if (signal?.aborted) throw problem;
    throw new ApiError(0, "The server does not answer. Is `karat serve` still running?");
  }
  if (!answer.ok) {
    if (answer.status === 401) session.refused();
    throw await failure(answer);
  }
  return answer;
}

/** The JSON of the answer, from the service or from a report file. The schemas vouch for its type. */
export async function request<T>(path: string, options: Options = {}): Promise<T> {
  if (isFile()) {
    const found = await embedded(path, options.params);
    if (found === undefined) throw new ApiError(404, `The report does not include ${path}.`);
    return found as T;
  }
  const answer = await send(path, options);
  return (answer.status === 204 ? undefined : await answer.json()) as T;
}
