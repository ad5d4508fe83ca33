/**
 * Memory for AI agents, on a server of Longmind.
 *
 *     const memory = new Longmind("http://127.0.0.1:8484", { key }).agent("assistant", { user: "alice" });
 *     await memory.remember("I moved to Lisbon in May.");
 *     const hits = await memory.recall("where does she live?");
 */

export { AgentMemory } from "./agent.js";
export type {
  Change,
  ChangesOptions,
  Content,
  Document,
  Filter,
  Forgotten,
  Hit,
  Message,
  ListOptions,
  Memory,
  MemoryPage,
  RecallOptions,
  RememberOptions,
} from "./agent.js";
export { LongmindError } from "./errors.js";
export { Longmind } from "./longmind.js";
export type { LongmindOptions } from "./longmind.js";
export type { components, operations, paths } from "./schema.js";
