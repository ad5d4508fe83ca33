/** Server-sent events, read from the body of a response. */

export interface ServerSentEvent {
  name: string;
  id: string | undefined;
  data: string;
}

/** Yield the events of a stream. Comments, which keep a silent stream alive, are left out. */
export async function* eventsOf(body: ReadableStream<Uint8Array>, heard: () => void): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder();
  let rest = "";
  let event = empty();
  for await (const chunk of chunksOf(body)) {
    heard();
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split(/\r\n|\n/);
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") {
        if (event.lines.length > 0) yield { name: event.name, id: event.id, data: event.lines.join("\n") };
        event = empty();
        continue;
      }
      const colon = line.indexOf(":");
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (field === "event") event.name = value;
      else if (field === "id") event.id = value;
      else if (field === "data") event.lines.push(value);
    }
  }
}

function empty(): { name: string; id: string | undefined; lines: string[] } {
  return { name: "message", id: undefined, lines: [] };
}

/** Browsers do not all iterate over a stream by themselves. The stream is cancelled when the reader stops. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined); // it may be broken already, and that was thrown above
  }
}
