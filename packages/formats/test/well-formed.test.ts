/** No written file has half of a surrogate pair, whatever the session has, and each report says that halves were replaced. */
import type { NewEntry, Session } from "@sessions/core"
import * as fc from "fast-check"
import { expect, onTestFinished, test } from "vitest"
import { runs } from "../../../.config/runs.ts"
import { growthOf, MOST_GROWTH, times } from "../../core/test/growth-of.ts"
import { isObject } from "../src/base/values.ts"
import { formats, writers } from "../src/formats.ts"
import { importText, recordsOf, written } from "./laws.ts"
import { linesOfAnswer } from "./many-blocks.ts"
import { result, say, sessionWith } from "./odd-sessions.ts"

/** Texts that look like escapes are none. */
const odd = fc.string({
  unit: fc.constantFrom("a", "\ud83d", "\ude00", "🙂", "\\", "\\ud83d", '"', "\u2028"),
  minLength: 1,
  maxLength: 6,
})

const IDS = ["c", "c\ud83d", "c\ud83e", "\udc00c", "c\ud83d\ud83d"]

function callOf(id: string, name: string, text: string, key: string): NewEntry {
  const args = { command: text, [key]: { [`${key}\ud800`]: [text], [`${key}\ud801`]: text } }
  return {
    type: "message",
    message: { role: "assistant", content: [{ type: "toolCall", id, name, arguments: args }] },
  }
}

/** It keeps the first message. */
function compactionOf(summary: string): NewEntry {
  const files = { readFiles: [], modifiedFiles: [] }
  return { type: "compaction", summary, firstKeptEntryId: FIRST, tokensBefore: 9, ...files }
}

const FIRST = "first \ud83d"

/** A session from its first message on. */
const turns: fc.Arbitrary<readonly NewEntry[]> = fc
  .array(
    fc.oneof(
      odd.map((text) => [say("user", text)]),
      odd.map((text) => [say("assistant", text), say("user", "on")]),
      fc
        .tuple(odd, odd, odd, fc.shuffledSubarray(IDS, { minLength: 1, maxLength: 3 }))
        .map(([text, key, out, ids]) => [
          ...ids.map((id) => callOf(id, "bash", text, key)),
          ...ids.map((id) => result(id, out)),
          say("user", "on"),
        ]),
      odd.map((summary) => [compactionOf(summary), say("user", "on")]),
      odd.map((title) => [{ type: "title_change", title, source: "user" } as const]),
      odd.map((summary) => [{ type: "branch_summary", fromId: "root", summary } as const]),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((found) => [{ ...say("user", "first"), id: FIRST }, ...found.flat()])

test("no file has half of a surrogate pair, in a text, a key or JSON within a text, and what was replaced is reported", async () => {
  await fc.assert(
    fc.asyncProperty(turns, fc.constantFrom(...writers), async (entries, format) => {
      const session = await sessionWith(...entries)
      const losses: string[] = []
      const text = await written(format, session, { note: ({ what }) => losses.push(what) })
      expect(new TextDecoder().decode(new TextEncoder().encode(text))).toBe(text)
      const texts = recordsOf(text).flatMap((record) => [...textsIn(record)])
      expect(texts.filter((one) => /[\ud800-\udfff]/u.test(one))).toEqual([])
      if (text.includes("\ufffd")) expect(losses).toContain("surrogates")
      expect(new Set(losses).size).toBe(losses.length)
    }),
    { numRuns: runs(80) },
  )
})

test.each(writers.map((format) => [format.format, format] as const))(
  "%s: texts are as before but for the halves, ids that differ in halves alone stay apart, and nothing is reported without halves",
  async (name, format) => {
    const reader = formats.find((one) => one.format === name)
    const calls = IDS.map((id, n) => callOf(id, "bash", `command ${n}\ud83d`, "key"))
    const results = IDS.map((id, n) => result(id, `out ${n} \udc00 \\ud83d 🙂`))
    const session = await sessionWith(say("user", "q"), ...calls.flatMap((call, n) => [call, results[n] as NewEntry]))
    const losses: string[] = []
    const text = await written(format, session, { note: ({ what, count }) => losses.push(`${what} ${count}`) })
    expect(losses).toContain(`surrogates ${2 * IDS.length}`)
    if (reader !== undefined) {
      const { messages } = await (await importText(reader, { text })).session.context()
      const blocks = messages.flatMap(({ message }) => message.content)
      const ids = blocks.flatMap(({ type, id }) => (type === "toolCall" ? [id] : []))
      const outs = messages.flatMap(({ message }) =>
        message.role === "toolResult" ? [[message.toolCallId, message.content]] : [],
      )
      expect(new Set(ids).size).toBe(IDS.length)
      expect(outs).toEqual(ids.map((id, n) => [id, [{ type: "text", text: `out ${n} \ufffd \\ud83d 🙂` }]]))
    }
    const plain = await sessionWith(say("user", "q 🙂 \\ud83d"))
    const none: string[] = []
    await written(format, plain, { note: ({ what }) => none.push(what) })
    expect(none).not.toContain("surrogates")
  },
)

test.each(formats.filter(({ write }) => write !== undefined).map((format) => [format.format, format] as const))(
  "%s: a file that has halves is written as it was, and what is appended to it is well-formed",
  async (_, format) => {
    const plain = await written(format, await sessionWith(say("user", "q"), say("assistant", "half")))
    const text = plain.replaceAll("half", "half \\ud83d")
    const { session } = await importText(format, { text })
    const losses: string[] = []
    const same = await written(format, session, { note: ({ what }) => losses.push(what) })
    expect(recordsOf(same)).toEqual(recordsOf(text))
    expect(losses).not.toContain("surrogates")
    await session.append(say("user", "new \ude00"))
    const longer = await written(format, session, { note: ({ what, count }) => losses.push(`${what} ${count}`) })
    expect(longer.match(/\\ud83d/g)?.length).toBe(text.match(/\\ud83d/g)?.length)
    expect(longer).not.toContain("\\ude00")
    expect(longer).toContain("new \ufffd")
    expect(losses).toContain("surrogates 1")
  },
)

test.each(writers.map((format) => [format.format, format] as const))(
  "%s: keys that differ in halves alone stay apart",
  async (_, format) => {
    const session = await sessionWith(say("user", "q"), callOf("c", "bash", "ls", "key"), result("c", "out"))
    const text = await written(format, session)
    expect(text).toContain("key\ufffd-1")
  },
)

test("very many keys that differ in halves alone cost work in proportion to their number", async () => {
  const half = (n: number): string => String.fromCharCode(0xd800 + (n % 1024), 0xd800 + Math.floor(n / 1024))
  const [format] = writers as [(typeof writers)[number]]
  const open = async (n: number): Promise<Session> => {
    const keys = Object.fromEntries(times(n, (i) => [half(i), i]))
    const content = [{ type: "toolCall" as const, id: "c", name: "t", arguments: keys }]
    return sessionWith(say("user", "q"), { type: "message", message: { role: "assistant", content } })
  }
  const write = async (session: Promise<Session>): Promise<void> => void (await written(format, await session))
  expect(await growthOf(250, open, write)).toBeLessThan(MOST_GROWTH)
})

test("claude-code: no call takes an argument for each block of an answer", async () => {
  const { push } = Array.prototype
  let most = 0
  // A spy of Vitest would call itself.
  Reflect.set(Array.prototype, "push", function (this: unknown[], ...args: unknown[]): number {
    most = Math.max(most, args.length)
    return push.apply(this, args)
  })
  onTestFinished(() => void Reflect.set(Array.prototype, "push", push))
  expect(await linesOfAnswer(1_000)).toBe(1_001)
  expect(most).toBeLessThan(1_000)
})

/** Also those of JSON within a text. */
function* textsIn(value: unknown): Generator<string> {
  if (typeof value === "string") {
    yield value
    let inner: unknown
    try {
      inner = JSON.parse(value)
    } catch {
      return
    }
    if (isObject(inner)) yield* textsIn(inner)
  } else if (Array.isArray(value)) for (const one of value) yield* textsIn(one)
  else if (isObject(value)) {
    for (const [key, one] of Object.entries(value)) {
      yield key
      yield* textsIn(one)
    }
  }
}
