/** The client against a real server, whose address is in LONGMIND_URL. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { type AddressInfo, type Socket, connect, createServer } from "node:net";
import { test } from "node:test";

import { type Change, Longmind, LongmindError } from "longmind";

const url = process.env["LONGMIND_URL"] ?? "";
assert.ok(url, "set LONGMIND_URL to the address of a server");
const longmind = new Longmind(url);
const fresh = () => longmind.agent(`agent-${randomUUID()}`, { user: "alice" });

async function refusal(calling: Promise<unknown>): Promise<LongmindError> {
  try {
    await calling;
  } catch (error) {
    assert.ok(error instanceof LongmindError, String(error));
    return error;
  }
  throw new assert.AssertionError({ message: "it was not refused" });
}

/** A proxy in front of the server that can cut what goes through it, and refuse what comes new. */
async function proxy() {
  const sockets = new Set<Socket>();
  let refusing = 0;
  const server = createServer((socket) => {
    if (refusing > 0) {
      refusing -= 1;
      socket.destroy();
      return;
    }
    const target = connect(Number(new URL(url).port), new URL(url).hostname);
    for (const [from, to] of [[socket, target], [target, socket]] as const) {
      sockets.add(from);
      from.on("error", () => to.destroy()).on("close", () => to.destroy());
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut: (refusals = 0) => {
      refusing = refusals;
      for (const socket of sockets) socket.destroy();
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

test("what is remembered is recalled, with the reason why", async () => {
  const memory = fresh();
  const stored = await memory.remember("I moved to Lisbon in May.", { tags: ["home"], importance: 0.8 });
  assert.equal(stored.content, "I moved to Lisbon in May.");
  assert.deepEqual(stored.tags, ["home"]);
  assert.equal(stored.user, "alice");
  const [hit] = await memory.recall("Where is Lisbon?", { k: 1 });
  assert.equal(hit?.memory.id, stored.id);
  assert.ok(hit.why.length > 0 && hit.score > 0);
  assert.match(await memory.context("Plan a trip from Lisbon.", { tokens: 200 }), /Lisbon/);
});

test("messages and documents are remembered at once", async () => {
  const memory = fresh();
  const turns = await memory.remember(
    [
      { role: "user", name: "Alice", content: "I live in Porto." },
      { role: "assistant", content: "Lovely." },
    ],
    { session: "march", occurred_at: "2026-03-02T10:00:00Z" },
  );
  assert.deepEqual(turns.map((turn) => turn.session), ["march", "march"]);
  const passages = await memory.remember({ document: { content: "Tea is drunk hot.", title: "Tea" } });
  assert.equal(passages.length, 1);
  assert.ok((await memory.consolidate({ dry_run: true })).stages.length > 0);
});

test("forgetting is undone", async () => {
  const memory = fresh();
  const stored = await memory.remember("A draft.", { tags: ["draft"] });
  const forgotten = await memory.forget({ where: { tags_any: ["draft"] } }, { reason: "no longer needed" });
  assert.deepEqual(forgotten.ids, [stored.id]);
  assert.equal(await memory.get(stored.id), undefined);
  assert.ok(forgotten.operation);
  await memory.undo(forgotten.operation);
  assert.equal((await memory.get(stored.id))?.content, "A draft.");
  assert.equal((await memory.forget(stored.id)).count, 1);
  assert.equal((await refusal(memory.forget([stored.id]))).code, "not_found");
});

test("a request that is repeated with its key is carried out once", async () => {
  const memory = fresh();
  const idempotencyKey = randomUUID();
  const first = await memory.remember("Once.", { idempotencyKey, session: "s" });
  const second = await memory.remember("Once.", { idempotencyKey, session: "s" });
  assert.equal(second.id, first.id);
  assert.equal((await refusal(memory.remember("Twice.", { idempotencyKey, session: "s" }))).status, 409);
});

test("a change of a record that changed meanwhile is refused", async () => {
  const memory = fresh();
  const stored = await memory.remember("Tea.");
  const changed = await memory.update(stored.id, { importance: 0.9 }, { version: stored.version });
  assert.equal(changed.importance, 0.9);
  const error = await refusal(memory.update(stored.id, { importance: 0.1 }, { version: stored.version }));
  assert.deepEqual([error.status, error.code], [412, "version_conflict"]);
  assert.deepEqual((await memory.history(stored.id)).map((change) => change.action), ["put", "update"]);
});

test("a list goes through all pages", async () => {
  const memory = fresh();
  const contents = Array.from({ length: 7 }, (_, number) => `Number ${number}.`);
  await memory.remember(contents);
  const page = await memory.page({ limit: 3 });
  assert.equal(page.items.length, 3);
  assert.ok(page.cursor);
  const all: string[] = [];
  for await (const item of memory.list({ limit: 3, descending: false })) all.push(item.content);
  assert.deepEqual(all.sort(), contents);
  const tagged = await memory.page({ where: { tags_any: ["absent"] } });
  assert.deepEqual(tagged.items, []);
});

test("users do not see each other, and any name can be in an address", async () => {
  const name = `a/b ü?#%2F ${randomUUID()}`;
  const stored = await longmind.agent(name, { user: "alice" }).remember("Mine.");
  assert.equal(await longmind.agent(name, { user: "bob" }).get(stored.id), undefined);
  assert.equal((await longmind.agent(name, { allUsers: true }).get(stored.id))?.content, "Mine.");
  assert.ok((await longmind.agents()).some((scope) => scope.agent === name));
  for (const folder of [".", "..", ""]) {
    assert.equal((await refusal(longmind.agent(folder).recall("x"))).code, "invalid_input");
  }
});

test("errors have a code, a hint and details", async () => {
  const error = await refusal(fresh().recall("x", { k: -1 }));
  assert.deepEqual([error.status, error.code], [422, "invalid_input"]);
  const nobody = new Longmind("http://127.0.0.1:9", { timeoutSeconds: 5 });
  const lost = await refusal(nobody.agent("a").recall("x"));
  assert.deepEqual([lost.status, lost.code], [0, "store_unavailable"]);
});

test("the key, Retry-After and answers of something between are understood", async () => {
  const seen: (string | null)[] = [];
  const answers = [
    new Response("<html>", { status: 502 }),
    Response.json(
      { type: "", title: "", status: 429, detail: "Too many.", code: "rate_limited", hint: "Wait.", details: {} },
      { status: 429, headers: { "Retry-After": "3" } },
    ),
  ];
  const fetch = async (request: Request) => {
    seen.push(request.headers.get("authorization"));
    return answers.shift() ?? Response.error();
  };
  const memory = new Longmind(url, { key: "lm_secret", fetch }).agent("a");
  assert.equal((await refusal(memory.recall("x"))).code, "store_unavailable");
  const limited = await refusal(memory.recall("x"));
  assert.deepEqual([limited.code, limited.retryAfter, limited.message], ["rate_limited", 3, "Too many. Wait."]);
  assert.deepEqual(seen, ["Bearer lm_secret", "Bearer lm_secret"]);
});

test("every operation is typed by its path", async () => {
  const { agent, query } = { agent: fresh().name, query: { user: "alice" } };
  const params = { path: { agent }, query };
  const goal = await longmind.call(
    longmind.api.POST("/v1/agents/{agent}/goals", { params, body: { description: "Learn Portuguese." } }),
  );
  const found = await longmind.call(longmind.api.GET("/v1/agents/{agent}/goals", { params }));
  assert.deepEqual(found.items.map((item) => item.id), [goal.id]);
});

test("the feed goes on behind the last change after the connection was lost", async () => {
  const between = await proxy();
  try {
    const { name } = fresh();
    const writing = longmind.agent(name);
    const seen: Change[] = [];
    await writing.remember("Number 0.");
    await writing.remember("Number 1.");
    for await (const change of new Longmind(between.url).agent(name).changes({ after: 0 })) {
      seen.push(change);
      if (seen.length === 2) {
        between.cut(2);
        await writing.remember("Number 2.");
      }
      if (seen.length === 3) break;
    }
    assert.deepEqual(seen.map((change) => change.after?.["content"]), ["Number 0.", "Number 1.", "Number 2."]);
    assert.equal(new Set(seen.map((change) => change.seq)).size, 3);
  } finally {
    between.close();
  }
});

test("a feed hears new changes, ends by its signal, and gives up when the server is gone", async () => {
  const memory = fresh();
  const stopping = new AbortController();
  const heard: string[] = [];
  const listening = (async () => {
    for await (const change of memory.changes({ after: 0, signal: stopping.signal })) {
      heard.push(change.action);
      if (heard.length === 2) stopping.abort();
    }
  })();
  const stored = await memory.remember("Tea.");
  await memory.update(stored.id, { importance: 0.9 });
  await listening;
  assert.deepEqual(heard, ["put", "update"]);

  const gone = new Longmind("http://127.0.0.1:9").agent("a").changes({ after: 0, reconnectSeconds: 0 });
  assert.equal((await refusal(gone.next())).code, "store_unavailable");
});
