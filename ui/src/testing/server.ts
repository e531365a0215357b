import type {
  Benchmark,
  BenchmarkProgress,
  Collection,
  Dataset,
  Definitions,
  EmbeddingModel,
  JudgmentEdit,
  Mapping,
  Me,
  Results,
} from "@/api/types";
import * as made from "./fixtures";

type Asked = { params: readonly string[]; search: URLSearchParams; body: unknown };
type Handler = (asked: Asked) => unknown;
type Route = readonly [method: string, pattern: RegExp, handler: Handler];

const ID = "([^/]+)";
const route = (method: string, path: string, handler: Handler): Route => [
  method,
  new RegExp(`^/api/v2${path.replaceAll("{}", ID)}$`),
  handler,
];

/** An answer that is no success. */
export class Refusal {
  constructor(
    readonly status: number,
    readonly detail: string,
  ) {}
}

const list = <Name extends string, Item>(name: Name, items: readonly Item[]) => ({
  [name]: items,
  total: items.length,
  page: 1,
  per_page: 50,
});

/**
 * The service in memory: enough of it for the pages to be tested without a network. Whatever a test
 * needs otherwise, it sets in `answers`, by method and path.
 */
export class FakeServer {
  datasets: Dataset[] = [made.dataset()];
  collections: Collection[] = [made.collection()];
  mappings: Mapping[] = [made.mapping()];
  benchmarks: Benchmark[] = [made.benchmark()];
  results: Results = made.results();
  definitions: Definitions = made.definitions();
  judgments: JudgmentEdit[] = [];
  models: EmbeddingModel[] = (["granite", "minilm", "static"] as const).map((name) => ({
    name,
    installed: true,
    install: "",
  }));
  me: Partial<Me> = {};
  choices: Me["choices"] = { models: ["granite"], rerankers: ["maxsim"], contexts: [] };
  answers = new Map<string, Handler>();
  readonly asked: string[] = [];
  readonly sent: unknown[] = [];
  private streams = new Set<ReadableStreamDefaultController<Uint8Array>>();
  private sequence = 0;

  private readonly routes: readonly Route[] = [
    route("GET", "/me", () => ({
      owner_id: "local",
      scopes: ["read", "run", "admin"],
      authenticated: false,
      shared: true,
      ...this.me,
      version: "0",
      roots: ["/srv"],
      models: this.models,
      choices: this.choices,
      limits: {
        upload_bytes: 10_000_000,
        upload_queries: 1000,
        upload_judgments: 100,
        archive_bytes: 1,
        active_jobs: 4,
        runs: 50,
        runs_warned: 25,
      },
    })),
    route("GET", "/engines", () => ({ engines: [{ name: "our-search", kind: "http" }] })),
    route("GET", "/search", ({ search }) => ({
      results: this.benchmarks
        .filter(({ name }) => name.toLowerCase().includes((search.get("q") ?? "").toLowerCase()))
        .map(({ id, name }) => ({ kind: "benchmark", id, title: name, detail: "" })),
    })),
    route("GET", "/benchmarks", () => list("benchmarks", this.benchmarks)),
    route("POST", "/benchmarks", ({ body }) => this.create(body as Partial<Benchmark>)),
    route("POST", "/benchmarks/preview", ({ body }) => preview(body as PreviewBody)),
    route("GET", "/benchmarks/{}", ({ params }) => this.benchmark(params[0])),
    route("POST", "/benchmarks/{}/(start|cancel)", ({ params }) =>
      this.control(params[0], params[1]),
    ),
    route("GET", "/benchmarks/{}/results", () => this.results),
    route("GET", "/benchmarks/{}/matrix", ({ search }) => made.matrix(search.get("metric") ?? "")),
    route("GET", "/benchmarks/{}/comparison", ({ search }) =>
      made.comparison(search.get("baseline") ?? undefined, search.get("metric") ?? undefined),
    ),
    route("GET", "/benchmarks/{}/curves", () => ({ curves: [] })),
    route("GET", "/benchmarks/{}/changes", () => ({ changes: [] })),
    route("GET", "/benchmarks/{}/details", () => made.details()),
    route("GET", "/definitions", () => this.definitions),
    route("GET", "/benchmarks/{}/queries/{}", () => made.drilldown()),
    route("GET", "/benchmark-datasets", () => list("datasets", this.datasets)),
    route("GET", "/benchmark-datasets/{}", () => this.datasets[0]),
    route("GET", "/benchmark-datasets/{}/mappings", () => list("mappings", this.mappings)),
    route("GET", "/collections", () => list("collections", this.collections)),
    route("GET", "/collections/{}", () => this.collections[0]),
    route("GET", "/collections/{}/documents/content", ({ search }) => ({
      path: search.get("path"),
      text: "# Title\nset up tokens\nhere\nend",
      language: "markdown",
    })),
    route("PUT", "/benchmark-datasets/{}/judgments", ({ body }) =>
      this.judge(body as JudgmentEdit),
    ),
    route("DELETE", "/benchmark-datasets/{}/judgments", () => ({
      version: 1,
      change: this.judgments.pop(),
    })),
  ];

  private benchmark(id: string | undefined): Benchmark | Refusal {
    return (
      this.benchmarks.find((one) => one.id === id) ?? new Refusal(404, "There is no such benchmark")
    );
  }

  private create(body: Partial<Benchmark>): Benchmark {
    const { name = "", description = "" } = body;
    const added = made.benchmark({
      id: made.uuid(40),
      name,
      description,
      status: "pending",
      completed_runs: 0,
    });
    this.benchmarks.push(added);
    return added;
  }

  private control(id: string | undefined, verb: string | undefined) {
    const status = verb === "start" ? ("running" as const) : ("cancelled" as const);
    this.benchmarks = this.benchmarks.map((one) => (one.id === id ? { ...one, status } : one));
    return { id, status, operation_uuid: made.uuid(14), message: "" };
  }

  private judge(edit: JudgmentEdit) {
    this.judgments.push(edit);
    this.datasets = this.datasets.map((one) => ({ ...one, version: one.version + 1 }));
    return { version: edit.version + 1, change: edit };
  }

  /** Tells every open stream of events how far a benchmark is. */
  emit(data: Partial<BenchmarkProgress>): void {
    this.sequence += 1;
    const event = JSON.stringify({ timestamp: "", type: "benchmark_progress", data });
    const text = `id: ${this.sequence}\ndata: ${event}\n\n`;
    for (const stream of this.streams) stream.enqueue(new TextEncoder().encode(text));
  }

  /** Breaks every stream off, as a lost connection does. */
  drop(): void {
    for (const stream of this.streams) stream.error(new Error("connection lost"));
    this.streams.clear();
  }

  private stream(signal: AbortSignal | null | undefined): Response {
    const body = new ReadableStream<Uint8Array>({
      start: (control) => {
        this.streams.add(control);
        signal?.addEventListener("abort", () => {
          if (this.streams.delete(control)) control.error(signal.reason);
        });
      },
    });
    return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
  }

  readonly fetch = async (
    input: string | URL | Request,
    init: RequestInit = {},
  ): Promise<Response> => {
    const url = new URL(String(input), "http://karat.test");
    const method = init.method ?? "GET";
    const last = new Headers(init.headers).get("Last-Event-ID");
    this.asked.push(`${method} ${url.pathname}${url.search}${last ? ` after ${last}` : ""}`);
    if (url.pathname.endsWith("/events")) return this.stream(init.signal);
    const body: unknown = typeof init.body === "string" ? JSON.parse(init.body) : init.body;
    if (method !== "GET") this.sent.push(body);
    const answer = await this.answer(method, url, body);
    if (answer instanceof Refusal) {
      const { status, detail } = answer;
      return Response.json({ detail, reference: "ERR-1" }, { status });
    }
    return answer === undefined ? new Response(null, { status: 204 }) : Response.json(answer);
  };

  private answer(method: string, url: URL, body: unknown): unknown {
    const own = this.answers.get(`${method} ${url.pathname.replace("/api/v2", "")}`);
    if (own) return own({ params: [], search: url.searchParams, body });
    for (const [verb, pattern, handler] of this.routes) {
      const match = verb === method && pattern.exec(url.pathname);
      if (match) return handler({ params: match.slice(1), search: url.searchParams, body });
    }
    return new Refusal(404, `The fake server knows no ${method} ${url.pathname}`);
  }
}

type PreviewBody = {
  config_matrix: { search_modes: string[]; engines: string[]; top_k_values: number[] };
};

function preview({ config_matrix: { search_modes, engines, top_k_values } }: PreviewBody) {
  const searches = [...search_modes, ...engines];
  const names = searches.flatMap((search) => top_k_values.map((k) => `${search} k=${k}`));
  if (names.length > 50)
    return new Refusal(422, `The matrix gives ${names.length} runs; at most 50 are allowed`);
  return {
    total_runs: names.length,
    runs: names.map((name) => ({ name, config: {} })),
    shared: {
      retrievals: search_modes.length,
      indexes: 1,
      words: "One retrieval serves every top_k.",
    },
    warning: names.length > 25 ? "More than 25 runs take long." : null,
  };
}
