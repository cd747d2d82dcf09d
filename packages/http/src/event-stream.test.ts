/** Server-sent events are written and read back. */
import { expect, test, vi } from "vitest"
import { eventStream, type StreamedEvent } from "./event-stream.ts"
import { readEvents, type ReceivedEvent } from "./read-events.ts"

test("what is written is read back, in order, with the id of each event", async () => {
  const events = [
    { event: "appended", id: "a.1", data: '{"text":"two\\nlines"}' },
    { event: "turn_end", data: "{}" },
    { event: "appended", id: "a.2", data: '"ü"' },
  ]
  const answer = eventStream(() => listed(events))
  expect(answer.headers.get("content-type")).toBe("text/event-stream")
  expect(answer.headers.get("cache-control")).toBe("no-store, no-transform")
  expect(answer.headers.get("x-accel-buffering")).toBe("no")
  expect(await all(bodyOf(answer))).toEqual([
    { event: "appended", id: "a.1", data: '{"text":"two\\nlines"}' },
    { event: "turn_end", id: "a.1", data: "{}" },
    { event: "appended", id: "a.2", data: '"ü"' },
  ])
})

test("a silent stream has a comment every 15 s, which is no event", async () => {
  vi.useFakeTimers()
  try {
    let end = (): void => undefined
    const wait = new Promise<void>((resolve) => (end = resolve))
    const reader = bodyOf(eventStream(() => after(wait))).getReader()
    const first = reader.read()
    await vi.advanceTimersByTimeAsync(15_000)
    expect(new TextDecoder().decode((await first).value)).toBe(":\n\n")
    end()
    expect(await all(pieces(":\n\n", "data: 1\n\n"))).toEqual([{ event: "message", id: undefined, data: "1" }])
    await reader.cancel()
  } finally {
    vi.useRealTimers()
  }
})

test("the source gets its signal when the client goes, and is asked for no event that is not taken", async () => {
  let taken = 0
  let signal: AbortSignal | undefined
  const body = bodyOf(
    eventStream(async function* (gone) {
      signal = gone
      for (;;) yield { event: "n", data: String(taken++) }
    }),
  )
  const reader = body.getReader()
  await reader.read()
  await new Promise((resolve) => setImmediate(resolve))
  expect(taken).toBeLessThan(4)
  await reader.cancel()
  expect(signal?.aborted).toBe(true)
})

test("an error of the source ends the stream", async () => {
  const answer = eventStream(async function* () {
    yield { event: "one", data: "1" }
    throw new Error("broken")
  })
  expect(await all(bodyOf(answer))).toEqual([{ event: "one", id: undefined, data: "1" }])
})

test("events are read whatever the pieces, with CR, LF and CR LF, several data fields and comments", async () => {
  const text =
    "event: a\r\nid: 1\r\ndata: x\r\ndata:y\r\n\r\n:note\ndata:  z\n\nevent: b\rdata: ü\r\rid: 9\n\nevent: lost\ndata: cut"
  const expected = [
    { event: "a", id: "1", data: "x\ny" },
    { event: "message", id: "1", data: " z" },
    { event: "b", id: "1", data: "ü" },
  ]
  for (let size = 1; size < 9; size++) expect(await all(cut(text, size)), `pieces of ${size} bytes`).toEqual(expected)
})

test("reading ends without an error at the signal, and with one after 45 s of silence", async () => {
  const stop = new AbortController()
  const reading = all(new ReadableStream<Uint8Array>(), stop.signal)
  stop.abort()
  expect(await reading).toEqual([])
  vi.useFakeTimers()
  try {
    const silent = Promise.allSettled([all(new ReadableStream<Uint8Array>())])
    await vi.advanceTimersByTimeAsync(45_000)
    const [outcome] = await silent
    expect(String((outcome as PromiseRejectedResult).reason)).toContain("nothing for 45 s")
  } finally {
    vi.useRealTimers()
  }
})

async function* listed(events: readonly StreamedEvent[]): AsyncGenerator<StreamedEvent> {
  yield* events
}

async function* after(wait: Promise<void>): AsyncGenerator<StreamedEvent> {
  await wait
  yield { event: "late", data: "1" }
}

function bodyOf(answer: Response): ReadableStream<Uint8Array> {
  return answer.body as ReadableStream<Uint8Array>
}

async function all(body: ReadableStream<Uint8Array>, signal?: AbortSignal): Promise<ReceivedEvent[]> {
  const events: ReceivedEvent[] = []
  for await (const event of readEvents(body, signal)) events.push(event)
  return events
}

function pieces(...texts: readonly string[]): ReadableStream<Uint8Array> {
  return streamOf(texts.map((text) => new TextEncoder().encode(text)))
}

function cut(text: string, size: number): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text)
  const count = Math.ceil(bytes.length / size)
  return streamOf(Array.from({ length: count }, (_, n) => bytes.slice(n * size, (n + 1) * size)))
}

function streamOf(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })
}

test("each piece of a stream is looked at once, however long its event is", async () => {
  const split = vi.spyOn(String.prototype, "split")
  try {
    const size = 2_000
    const text = "x".repeat(1_000_000)
    const [event] = await all(cut(`data: ${text}\n\n`, size))
    expect(event?.data).toBe(text)
    const seen = split.mock.contexts.reduce<number>((sum, one) => sum + String(one).length, 0)
    expect(seen).toBeLessThan(2 * text.length)
  } finally {
    split.mockRestore()
  }
})
