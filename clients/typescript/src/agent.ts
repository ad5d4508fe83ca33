/** `AgentMemory`: what one agent knows. */

import { LongmindError, unreachable } from "./errors.js";
import { eventsOf } from "./events.js";
import type { Longmind } from "./longmind.js";
import type { components, operations } from "./schema.js";

type Schemas = components["schemas"];
export type Memory = Schemas["Memory"];
export type MemoryPage = Schemas["Page_Memory_"];
export type Hit = Schemas["Hit"];
export type Change = Schemas["Change"];
export type Filter = Schemas["Filter"];
export type Forgotten = Schemas["Forgotten"];
/** A message, as chat APIs have it. */
export type Message = { role: string; content: string } & Record<string, unknown>;
/** A document, which is split into passages. */
export type Document = Schemas["DocumentInput"];
export type Content = string | Message;

export type RememberOptions = Omit<Schemas["MemoriesRememberRequest"], "content"> & {
  /** A request that is repeated with the same key is carried out once. */
  idempotencyKey?: string;
};
export type RecallOptions = Omit<Schemas["RecallRecallRequest"], "query">;
type ListQuery = NonNullable<operations["memories.list"]["parameters"]["query"]>;
export type ListOptions = Omit<ListQuery, "user" | "all_users" | "where"> & { where?: Filter };

export interface ChangesOptions {
  /** The number of the last change that is known; 0 begins with the first. By default only new ones come. */
  after?: number;
  /** Ends the feed. */
  signal?: AbortSignal;
  /** How long to try to reach the server again after the connection was lost. Default: 60 s. */
  reconnectSeconds?: number;
}

const SILENCE_MS = 60_000; // the server sends a comment every 15 s
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5_000;

/** What an agent knows. Each method is one request. */
export class AgentMemory {
  readonly #longmind: Longmind;
  readonly #query: { user?: string; all_users?: boolean };

  constructor(
    longmind: Longmind,
    /** The agent's name. */
    readonly name: string,
    options: { user?: string; allUsers?: boolean },
  ) {
    this.#longmind = longmind;
    this.#query = {
      ...(options.user === undefined ? {} : { user: options.user }),
      ...(options.allUsers ? { all_users: true } : {}),
    };
  }

  /** Store a text or a message. When it returns it is durable, and the next recall finds it. */
  async remember(content: Content, options?: RememberOptions): Promise<Memory>;
  /** Store a document, or several texts and messages at once. */
  async remember(content: Document | readonly (Content | Document)[], options?: RememberOptions): Promise<Memory[]>;
  async remember(
    content: Content | Document | readonly (Content | Document)[],
    { idempotencyKey, ...options }: RememberOptions = {},
  ): Promise<Memory | Memory[]> {
    const stored = await this.#longmind.call(
      this.#longmind.api.POST("/v1/agents/{agent}/memories", {
        params: {
          ...this.#located(),
          header: idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey },
        },
        body: { content: content as Schemas["MemoriesRememberRequest"]["content"], ...options },
        signal: this.#longmind.signal(),
      }),
    );
    return "items" in stored ? stored.items : stored;
  }

  /** Return the memories that fit a question best, each with the reason why. */
  async recall(query: string, options: RecallOptions = {}): Promise<Hit[]> {
    const { api } = this.#longmind;
    const body = { query, ...options };
    const recalled = api.POST("/v1/agents/{agent}/recall", { ...this.#request(), body });
    return (await this.#longmind.call(recalled)).hits;
  }

  /** Return what matters for a task as text for a prompt, quoted as data. */
  async context(task: string, options: Omit<Schemas["ContextContextRequest"], "task"> = {}): Promise<string> {
    const { api } = this.#longmind;
    const body = { task, ...options };
    const written = api.POST("/v1/agents/{agent}/context", { ...this.#request(), body });
    return (await this.#longmind.call(written)).text;
  }

  /** Remove memories by id or by a filter; `undo` brings them back, unless they are erased. */
  async forget(
    which: string | readonly string[] | { where: Filter },
    options: { erase?: boolean; reason?: string } = {},
  ): Promise<Forgotten> {
    const { api } = this.#longmind;
    const chosen = typeof which === "string" ? { which } : "where" in which ? which : { which: [...which] };
    const body = { ...chosen, ...options };
    return this.#longmind.call(api.POST("/v1/agents/{agent}/memories/forget", { ...this.#request(), body }));
  }

  /** Turn what was said into facts and summaries, and return what was done. */
  async consolidate(options: Schemas["ConsolidationConsolidateRequest"] = {}): Promise<Schemas["ConsolidationReport"]> {
    const { api } = this.#longmind;
    return this.#longmind.call(api.POST("/v1/agents/{agent}/consolidation", { ...this.#request(), body: options }));
  }

  /** Return a memory; undefined if there is none with this id. */
  async get(id: string): Promise<Memory | undefined> {
    const { api } = this.#longmind;
    try {
      return await this.#longmind.call(api.GET("/v1/agents/{agent}/memories/{id}", this.#request({ id })));
    } catch (error) {
      if (error instanceof LongmindError && error.code === "not_found") return undefined;
      throw error;
    }
  }

  /** Change a memory. With `version`, that of the record you read, a change in between is a `version_conflict`. */
  async update(
    id: string,
    changes: Schemas["MemoriesUpdateRequest"],
    options: { version?: number } = {},
  ): Promise<Memory> {
    const header = options.version === undefined ? {} : { "If-Match": `"${options.version}"` };
    return this.#longmind.call(
      this.#longmind.api.PATCH("/v1/agents/{agent}/memories/{id}", {
        params: { ...this.#located({ id }), header },
        body: changes,
        signal: this.#longmind.signal(),
      }),
    );
  }

  /** Return one page of memories; `cursor` of a page gives the next one. */
  async page({ where, ...options }: ListOptions = {}): Promise<MemoryPage> {
    const { api } = this.#longmind;
    const filter = where === undefined ? {} : { where: JSON.stringify(where) };
    const { params, signal } = this.#request();
    const query = { ...params.query, ...options, ...filter };
    return this.#longmind.call(api.GET("/v1/agents/{agent}/memories", { params: { ...params, query }, signal }));
  }

  /** Yield all memories, page by page. */
  async *list(options: Omit<ListOptions, "cursor"> = {}): AsyncGenerator<Memory> {
    let cursor: string | null | undefined;
    do {
      const page: MemoryPage = await this.page({ ...options, ...(cursor ? { cursor } : {}) });
      yield* page.items;
      cursor = page.cursor;
    } while (cursor);
  }

  /** Return every change of a memory, the oldest first. */
  async history(id: string): Promise<Change[]> {
    const { api } = this.#longmind;
    const { items } = await this.#longmind.call(
      api.GET("/v1/agents/{agent}/memories/{id}/history", this.#request({ id })),
    );
    return items;
  }

  /** Take back an operation, which `forget` and the changes of a memory name. */
  async undo(operation: string): Promise<Schemas["Undone"]> {
    const { api } = this.#longmind;
    return this.#longmind.call(
      api.POST("/v1/agents/{agent}/operations/{operation}/undo", this.#request({ operation })),
    );
  }

  /**
   * Yield changes as they are made, by any process, each once and in order.
   *
   * After a lost connection the feed goes on behind the last change. It ends by `break` or by the signal.
   */
  async *changes(options: ChangesOptions = {}): AsyncGenerator<Change> {
    let position = options.after;
    let lostAt: number | undefined;
    let wait = FIRST_WAIT_MS;
    while (!options.signal?.aborted) {
      try {
        for await (const change of this.#feed(position, options.signal)) {
          position = change.seq;
          lostAt = undefined;
          wait = FIRST_WAIT_MS;
          yield change;
        }
        return;
      } catch (error) {
        if (options.signal?.aborted) return;
        const patience = (options.reconnectSeconds ?? 60) * 1000;
        lostAt ??= Date.now();
        // without a position nobody can say what was missed meanwhile
        if (!isLost(error) || position === undefined || Date.now() - lostAt >= patience) throw error;
        await pause(Math.max(wait, (error.retryAfter ?? 0) * 1000), options.signal);
        wait = Math.min(wait * 2, LONGEST_WAIT_MS);
      }
    }
  }

  /** Yield the changes of one connection; it throws `store_unavailable` when that is lost. */
  async *#feed(position: number | undefined, signal: AbortSignal | undefined): AsyncGenerator<Change> {
    const ending = new AbortController();
    const end = () => ending.abort(signal?.reason);
    signal?.addEventListener("abort", end);
    let silence: ReturnType<typeof setTimeout> | undefined;
    const heard = () => {
      clearTimeout(silence);
      silence = setTimeout(() => ending.abort(new Error("The stream is silent.")), SILENCE_MS);
    };
    try {
      heard();
      const query = { ...this.#query, ...(position === undefined ? {} : { after: position }) };
      const body = await this.#longmind.call(
        this.#longmind.api.GET("/v1/agents/{agent}/changes", {
          params: { path: { agent: this.name }, query },
          parseAs: "stream",
          signal: ending.signal,
        }),
      );
      for await (const event of lossOf(eventsOf(body, heard))) {
        if (event.name === "end") return;
        if (event.name === "problem") throw new LongmindError(JSON.parse(event.data));
        yield JSON.parse(event.data) as Change;
      }
      throw unreachable(new Error("The server ended the stream."));
    } finally {
      clearTimeout(silence);
      signal?.removeEventListener("abort", end);
      ending.abort();
    }
  }

  #located<Path extends Record<string, string> = Record<never, string>>(path?: Path) {
    return { path: { agent: this.name, ...path } as { agent: string } & Path, query: this.#query };
  }

  #request<Path extends Record<string, string> = Record<never, string>>(path?: Path) {
    return { params: this.#located(path), signal: this.#longmind.signal() };
  }
}

function isLost(error: unknown): error is LongmindError {
  return error instanceof LongmindError && (error.code === "store_unavailable" || error.status === 429);
}

/** Yield the items; a failure of the connection becomes `store_unavailable`. */
async function* lossOf<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item> {
  try {
    yield* items;
  } catch (error) {
    throw unreachable(error);
  }
}

/** Wait, or until the signal. */
function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal?.addEventListener("abort", done);
  });
}
