/** Errors, as the server tells them: `application/problem+json` from the one error tree of Longmind. */

import type { components } from "./schema.js";

type Problem = components["schemas"]["Problem"];

/** What went wrong. `code` is stable: look at it, not at the message. */
export class LongmindError extends Error {
  override readonly name = "LongmindError";
  /** For programs: `not_found`, `version_conflict`, `store_unavailable` and so on; see the reference of errors. */
  readonly code: string;
  /** The HTTP status; 0 if no answer came. */
  readonly status: number;
  /** What to do about it. */
  readonly hint: string;
  readonly details: Record<string, unknown>;
  /** After how many seconds to try again, if the server said it. */
  readonly retryAfter: number | undefined;

  constructor(problem: Omit<Problem, "type" | "title">, options: { retryAfter?: number; cause?: unknown } = {}) {
    super(problem.hint ? `${problem.detail} ${problem.hint}` : problem.detail, { cause: options.cause });
    this.code = problem.code;
    this.status = problem.status;
    this.hint = problem.hint;
    this.details = problem.details;
    this.retryAfter = options.retryAfter;
  }
}

/** Return the error of a response that is none of 2xx. */
export function errorOf(problem: unknown, response: Response): LongmindError {
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  const options = Number.isFinite(seconds) ? { retryAfter: seconds } : {};
  if (isProblem(problem)) return new LongmindError(problem, options);
  const unavailable = [502, 503, 504].includes(response.status);
  const code = unavailable ? "store_unavailable" : "store_error";
  const detail = `The server answered with status ${response.status}.`;
  return new LongmindError({ code, detail, status: response.status, hint: CHECK, details: {} }, options);
}

/** Return the error of a request that got no answer. */
export function unreachable(cause: unknown): LongmindError {
  const late = cause instanceof Error && cause.name === "TimeoutError";
  const detail = late ? "The server did not answer in time." : "The server cannot be reached.";
  return new LongmindError({ code: "store_unavailable", detail, status: 0, hint: CHECK, details: {} }, { cause });
}

const CHECK = "Check that the server runs and that the address is right.";

function isProblem(value: unknown): value is Problem {
  return typeof value === "object" && value !== null && "code" in value && "detail" in value && "hint" in value;
}
