/** What reading a stream costs: four times as many chunks, or pieces of one, are about four times the work. */
import { expect, test } from "vitest"
import { growthOf, MOST_GROWTH, piecesOf, streamOf, times } from "../../core/test/growth-of.ts"
import { type Chunk, EventReader, eventOf } from "../src/streams/chunks.ts"
import { chunksEntry, StreamState } from "../src/streams/log.ts"
import { readAll } from "../src/streams/record.ts"

const delta = (text: string): Chunk => ({ type: "text-delta", id: "t", delta: text })
const READ: Readonly<Record<string, (n: number) => readonly string[]>> = {
  "events in one piece": (n) => [times(n, (i) => eventOf(delta(`${i}`))).join("")],
  "a piece for each event": (n) => times(n, (i) => eventOf(delta(`${i}`))),
  "events in small pieces": (n) => piecesOf(times(n, (i) => eventOf(delta(`${i}`))).join(""), 7),
  "one event in small pieces": (n) => piecesOf(eventOf(delta("x".repeat(20 * n))), 20),
  "one event in pieces that begin with a line feed": (n) => times(n, () => "\nxxxxxxxxxxxxxxxxxxx"),
  "line feeds, one in each piece": (n) => times(n, () => "\n"),
  "events without chunks": (n) => times(n, () => ": x\n\n"),
}

test.each(Object.entries(READ))("reading %s", async (_, pieces) => {
  const read = (all: readonly string[]): void => {
    const reader = new EventReader()
    for (const piece of all) reader.read(piece)
  }
  expect(await growthOf(10_000, pieces, read)).toBeLessThan(MOST_GROWTH)
})

test("reading a stream", async () => {
  const made = (n: number): ReadableStream<string> => streamOf(times(n, (i) => eventOf(delta(`${i}`))))
  const read = (stream: ReadableStream<string>): Promise<boolean> => readAll(stream, () => undefined)
  expect(await growthOf(10_000, made, read)).toBeLessThan(MOST_GROWTH)
})

const LOGS: Readonly<Record<string, (n: number) => readonly object[]>> = {
  "of one entry": (n) => [
    chunksEntry(
      0,
      times(n, (i) => delta(`${i}`)),
    ),
  ],
  "of an entry for each": (n) => times(n, (i) => chunksEntry(i, [delta(`${i}`)])),
  "that were written again and again": (n) =>
    times(n, (i) =>
      chunksEntry(
        i - 5,
        times(6, () => delta("x")),
      ),
    ),
}

test.each(Object.entries(LOGS))("taking chunks %s from a log", async (_, entries) => {
  const take = (all: readonly object[]): void => {
    const state = new StreamState()
    for (const entry of all) state.take(entry as never)
  }
  expect(await growthOf(10_000, entries, take)).toBeLessThan(MOST_GROWTH)
})
