import { ApiError, request } from "./client";
import type { JudgmentEdit, JudgmentHistory, Judgments } from "./types";

/** A grade as it was given; the version that it is based on is known when it is sent. */
export type Grade = Omit<JudgmentEdit, "version">;
type Step = { grade: Grade } | { undo: true };

/**
 * *unsaved* counts the grades that the server has not confirmed, *saved* those that it has. A
 * *problem* is why the first of them is not saved; where *stuck*, it waits for a decision.
 */
export type QueueState = {
  unsaved: number;
  saved: number;
  problem: unknown;
  stuck: boolean;
};

type Change = JudgmentHistory["changes"][number];

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;
const CONFLICT = 409;

const isPassing = (problem: unknown): boolean =>
  problem instanceof ApiError &&
  (problem.status === 0 || problem.status === 429 || problem.status >= 500);

const isSame = (grade: Grade, change: Change): boolean =>
  grade.query_id === change.query_id &&
  grade.path === change.path &&
  (grade.start_line ?? null) === change.start_line &&
  (grade.end_line ?? null) === change.end_line;

const warn = (event: BeforeUnloadEvent) => event.preventDefault();

/**
 * Sends grades one after another, in the order in which they were given, however fast that was. What
 * cannot be sent stays at the head of the queue: it is tried again where the connection is lost or
 * the server is down, and waits for a decision where the server refuses it.
 */
export class GradeQueue {
  private steps: Step[] = [];
  private version = 1;
  private state: QueueState = { unsaved: 0, saved: 0, problem: null, stuck: false };
  private readonly listeners = new Set<() => void>();
  private running = false;
  private wake = () => {};

  constructor(private readonly dataset: string) {}

  readonly subscribe = (listener: () => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly snapshot = (): QueueState => this.state;

  /** Whether a list of *version* holds everything that was sent and confirmed. */
  isCurrent(version: number): boolean {
    return this.state.unsaved === 0 && version >= this.version;
  }

  /** Bases the next grades on *version* of the judgments, unless a newer one is known. */
  seen(version: number): void {
    this.version = Math.max(this.version, version);
  }

  give(grade: Grade): void {
    this.add({ grade });
  }

  /** Takes back the last grade: before it was sent if possible. */
  undo(): void {
    const last = this.steps.at(-1);
    if (this.state.stuck && this.steps.length === 1) this.drop();
    // The first one may be on its way.
    else if (this.steps.length > 1 && last && "grade" in last) {
      this.steps.pop();
      this.tell();
    } else {
      this.add({ undo: true });
    }
  }

  /** Tries at once what could not be saved. */
  retry(): void {
    this.tell({ problem: null, stuck: false });
    this.wake();
    void this.run();
  }

  /** Gives up the grade that could not be saved, and goes on with the next. */
  drop(): void {
    this.steps.shift();
    this.retry();
  }

  private add(step: Step): void {
    this.steps.push(step);
    if (this.steps.length === 1) window.addEventListener("beforeunload", warn);
    this.tell();
    if (!this.state.stuck) void this.run();
  }

  private tell(more: Partial<QueueState> = {}): void {
    this.state = { ...this.state, ...more, unsaved: this.steps.length };
    if (this.steps.length === 0) window.removeEventListener("beforeunload", warn);
    for (const listener of this.listeners) listener();
  }

  private async run(): Promise<void> {
    if (this.running) return;
    this.running = true;
    let wait = FIRST_WAIT_MS;
    try {
      for (let step = this.steps[0]; step && !this.state.stuck; step = this.steps[0]) {
        try {
          this.version = (await this.send(step)).version;
          this.confirm();
          wait = FIRST_WAIT_MS;
        } catch (problem) {
          if (isPassing(problem)) {
            this.tell({ problem });
            await this.pause(wait);
            wait = Math.min(2 * wait, LONGEST_WAIT_MS);
          } else {
            const refused = await this.resolved(step, problem);
            if (refused) this.tell({ problem: refused, stuck: true });
          }
        }
      }
    } finally {
      this.running = false;
    }
  }

  private confirm(): void {
    this.steps.shift();
    this.tell({ saved: this.state.saved + 1, problem: null });
  }

  private send(step: Step): Promise<Judgments> {
    const path = `/benchmark-datasets/${this.dataset}/judgments`;
    if ("undo" in step) return request<Judgments>(path, { method: "DELETE" });
    const json: JudgmentEdit = { ...step.grade, version: this.version };
    return request<Judgments>(path, { method: "PUT", json });
  }

  /**
   * Nothing where a grade was refused only because somebody has graded something else meanwhile: it
   * can be sent again. Otherwise why it cannot.
   */
  private async resolved(step: Step, problem: unknown): Promise<unknown> {
    if (!(problem instanceof ApiError) || problem.status !== CONFLICT || "undo" in step)
      return problem;
    try {
      const path = `/benchmark-datasets/${this.dataset}/judgments/history`;
      const { version, changes } = await request<JudgmentHistory>(path);
      const before = this.version;
      this.version = version;
      const other = changes.find((change) => change.version > before && isSame(step.grade, change));
      // The answer to the first attempt was lost, or somebody else thinks the same.
      if (other?.grade === step.grade.grade) this.confirm();
      else if (other)
        return new Error(
          `${other.owner_id} has given ${other.path} the grade ${other.grade ?? "none"} meanwhile; yours is ${step.grade.grade}.`,
        );
      return version === before && !other ? problem : null;
    } catch (lost) {
      return isPassing(lost) ? null : lost;
    }
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

const queues = new Map<string, GradeQueue>();

/** The queue of a dataset; it outlives the page that fills it. */
export function gradeQueue(dataset: string): GradeQueue {
  const found = queues.get(dataset) ?? new GradeQueue(dataset);
  queues.set(dataset, found);
  return found;
}
