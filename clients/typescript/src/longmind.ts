/** `Longmind`: a server, and the key to it. */

import createClient, { defaultPathSerializer, type Client } from "openapi-fetch";

import { AgentMemory } from "./agent.js";
import { LongmindError, errorOf, unreachable } from "./errors.js";
import type { paths } from "./schema.js";

export interface LongmindOptions {
  /** The API key. */
  key?: string;
  /** How long a request may take; a stream has no limit. Default: 120 s. */
  timeoutSeconds?: number;
  /** What sends requests, in place of the global `fetch`. */
  fetch?: (request: Request) => Promise<Response>;
}

/** The result of a call of `api`, as openapi-fetch gives it. */
interface Result<Data> {
  data?: Data;
  error?: unknown;
  response: Response;
}

/** A server of Longmind. It holds no connection, so there is nothing to close. */
export class Longmind {
  /** Every operation of the server, typed by its path: `api.GET("/v1/agents", {})`. */
  readonly api: Client<paths, "application/json">;
  /** The timeout of a request, in milliseconds. */
  readonly timeout: number;

  constructor(url: string, options: LongmindOptions = {}) {
    this.timeout = (options.timeoutSeconds ?? 120) * 1000;
    this.api = createClient<paths, "application/json">({
      baseUrl: url,
      headers: options.key === undefined ? {} : { Authorization: `Bearer ${options.key}` },
      pathSerializer: serializePath,
      redirect: "error", // the key goes to this server and to no other
      ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
    });
  }

  /** What an agent knows: with a user, without one, or with all of them (for which a key needs `admin`). */
  agent(name: string, options: { user?: string; allUsers?: boolean } = {}): AgentMemory {
    return new AgentMemory(this, name, options);
  }

  /** Return the agents that have memories. */
  async agents() {
    const found = await this.call(this.api.GET("/v1/agents", { signal: this.signal() }));
    return found.items;
  }

  /** Wait for a call of `api` and return its result; throw `LongmindError` if the server refused it. */
  async call<Data>(calling: Promise<Result<Data>>): Promise<NonNullable<Data>> {
    let result: Result<Data>;
    try {
      result = await calling;
    } catch (error) {
      throw error instanceof LongmindError ? error : unreachable(error);
    }
    if (!result.response.ok) throw errorOf(result.error, result.response);
    return result.data as NonNullable<Data>;
  }

  /** A signal that ends a request after the timeout. */
  signal(): AbortSignal {
    return AbortSignal.timeout(this.timeout);
  }
}

/** Put names into a path. `.` and `..` would be taken for folders, whatever their encoding. */
function serializePath(path: string, names: Record<string, unknown>): string {
  for (const [name, value] of Object.entries(names)) {
    if (value === "." || value === ".." || value === "") {
      const detail = `The ${name} ${JSON.stringify(value)} cannot be part of an address.`;
      throw new LongmindError({ code: "invalid_input", detail, status: 422, hint: "", details: { field: name } });
    }
  }
  return defaultPathSerializer(path, names);
}
