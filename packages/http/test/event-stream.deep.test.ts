/** What reading server-sent events costs: four times as many, or as long ones, are about four times the work. */
import { expect, test } from "vitest"
import { growthOf, MOST_GROWTH, piecesOf, streamOf, times } from "../../core/test/growth-of.ts"
import { readEvents } from "../src/read-events.ts"

const STREAMS: Readonly<Record<string, (n: number) => readonly string[]>> = {
  "events in one piece": (n) => ["id: 1\nevent: e\ndata: x\n\n".repeat(n)],
  "a piece for each event": (n) => times(n, (i) => `id: ${i}\nevent: e\ndata: x\n\n`),
  "events in small pieces": (n) => piecesOf("id: 1\nevent: e\ndata: x\n\n".repeat(n), 7),
  "one line in small pieces": (n) => [...times(n, () => "data: xxxxxxxxxx"), "\n\n"],
  "one line in one piece": (n) => [`data: ${"x".repeat(100 * n)}\n\n`],
  "one event of many lines": (n) => ["data: x\n".repeat(n), "\n"],
  "lines with each kind of end": (n) => times(n, (i) => `data: x${["\r", "\n", "\r\n"][i % 3] as string}`),
  "a CR at the end of each piece": (n) => times(n, () => "data: x\r"),
  comments: (n) => times(n, () => ":\n\n"),
  "fields without a name": (n) => times(n, () => "x\n"),
  colons: (n) => [`${":".repeat(100 * n)}\n`],
  "empty lines": (n) => ["\n".repeat(100 * n)],
}

test.each(Object.entries(STREAMS))("%s", async (_, pieces) => {
  const utf8 = new TextEncoder()
  const made = (n: number): ReadableStream<Uint8Array> => streamOf(pieces(n).map((piece) => utf8.encode(piece)))
  const read = async (body: ReadableStream<Uint8Array>): Promise<void> => {
    for await (const _ of readEvents(body));
  }
  expect(await growthOf(5_000, made, read)).toBeLessThan(MOST_GROWTH)
})
