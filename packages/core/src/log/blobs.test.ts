import { compact } from "../compaction/index.ts"
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import { expect, test } from "vitest"
import { assistant, storedEntries, storedLines, user } from "../../test/writers.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { NewEntry } from "../format/new-entry.ts"
import type { Entry } from "../format/entry.ts"
import { createSessions } from "../session/repository.ts"
import type { Session } from "../session/types.ts"
import type { ContentBlock } from "../format/message.ts"

const LONG = `start ${"x".repeat(500_000)} end`
/** 1,024 characters of base64, the longest string that stays in a line. */
const IMAGE = btoa("i".repeat(768))
const SMALL_IMAGE = btoa("i".repeat(765))
const REFERENCE = `blob:sha256:${"0".repeat(64)}`

const image = (data: string) => ({ type: "image" as const, data, mimeType: "image/png" })
const said = (...content: readonly ContentBlock[]): NewEntry => ({
  type: "message",
  message: { role: "user", content },
})

test("long strings and images move out of the line, and are restored in every read of the session", async () => {
  const { session, location, reopen } = await start()
  const { ids } = await session.append([
    user(LONG, "text"),
    said(image(IMAGE)),
    { type: "custom", customType: "note", data: { deep: [LONG] } },
    { type: "message", message: { role: "bashExecution", command: "cat", output: LONG } },
    said(image(SMALL_IMAGE), { type: "text", text: "x".repeat(500_000) }),
  ])
  const lines = await storedLines(createMemoryStorage({ location }))
  expect(lines.slice(1, 5).every((line) => line.length < 500)).toBe(true)
  const stored = lines.map((line) => JSON.parse(line) as Entry)
  expect(stored[1]?.blobs).toEqual({ "/message/content/0/text": "utf8" })
  expect(stored[2]?.blobs).toEqual({ "/message/content/0/data": "base64" })
  expect(stored[3]?.blobs).toEqual({ "/data/deep/0": "utf8" })
  expect(stored[5]).not.toHaveProperty("blobs")
  for (const open of [session, await reopen()]) {
    const { messages, diagnostics } = await open.context()
    expect(diagnostics).toEqual([])
    expect(messages.map(({ message }) => message.content)).toMatchObject([
      [{ text: LONG }],
      [{ data: IMAGE }],
      [{ text: expect.stringContaining(LONG) }],
      [{ data: SMALL_IMAGE }, {}],
    ])
    expect((await open.messages()).messages.map(({ message }) => message)).toMatchObject([
      { content: [{ text: LONG }] },
      { content: [{ data: IMAGE }] },
      { output: LONG },
      { content: [{ data: SMALL_IMAGE }, {}] },
    ])
    const entries = await collect(open)
    expect(entries[0]).toMatchObject({ message: { content: [{ text: LONG }] } })
    expect(entries[2]).toMatchObject({ data: { deep: [LONG] } })
    for (const [index, id] of ids.entries()) {
      const entry = await open.entry(id)
      expect(entry).toEqual(entries[index])
      expect(entry).not.toHaveProperty("blobs")
    }
  }
})

test("a compaction's input and its long summary are complete", async () => {
  const { session, reopen } = await start({ textUnits: 100 })
  const long = `Remember: ${"word ".repeat(100)}`
  const [first] = (await session.append([user(long), assistant("a".repeat(8_000)), user("x"), assistant("y")])).ids
  await session.edit(first as string, { content: `${long} edited` })
  const prompts: string[] = []
  const summary = `## Goal\n${"keep ".repeat(100)}`
  const summarize = async ({ prompt }: { prompt: string }): Promise<string> => {
    prompts.push(prompt)
    return summary
  }
  const open = await reopen()
  await compact(open, { summarize, keepRecentTokens: 0 })
  expect(prompts[0]).toContain(`${long} edited`)
  await open.append([user("b".repeat(8_000)), assistant("c"), user("z")])
  const again = await reopen()
  await compact(again, { summarize, keepRecentTokens: 0 })
  expect(prompts[1]).toContain(`<previous-summary>\n${summary.trim()}`)
  expect(prompts.join()).not.toContain("blob:sha256:")
})

test("a text that looks like a reference stays a text, in memory, in the store and in the context", async () => {
  const { session, reopen } = await start()
  await session.append([user(REFERENCE), said({ type: "text", text: REFERENCE }, { type: "text", text: LONG })])
  for (const open of [session, await reopen()]) {
    const { messages, diagnostics } = await open.context()
    expect(messages.map(({ message }) => message.content)).toMatchObject([
      [{ text: REFERENCE }],
      [{ text: REFERENCE }, { text: LONG }],
    ])
    expect(diagnostics).toEqual([])
  }
})

test("if blobs are missing, the model gets a text that states this, never a reference; the entry keeps the reference", async () => {
  const { session, location, reopen } = await start({ textUnits: 100, imageChars: 16 })
  const long = "x".repeat(200)
  const call = { type: "toolCall" as const, id: "c1", name: "write", arguments: { path: "a.ts", content: long } }
  await session.append([
    user(long, "text"),
    {
      type: "message",
      id: "call",
      message: { role: "assistant", content: [{ type: "thinking", thinking: long, signature: "s" }, call] },
    },
    {
      type: "message",
      id: "result",
      message: { role: "toolResult", toolCallId: "c1", isError: false, content: [image("AAAA".repeat(8))] },
    },
    { type: "message", id: "bash", message: { role: "bashExecution", command: "ls", output: long } },
    { type: "custom_message", id: "custom", customType: "note", content: long, display: true },
    user("edited", "edited"),
    { type: "context_edit", targetId: "edited", replacement: { content: long } },
  ])
  const { blobs } = location
  const hashes = [...blobs.keys()]
  blobs.clear()
  const open = await reopen()
  const context = await open.context()
  expect(JSON.stringify(context.messages)).not.toContain("blob:sha256:")
  expect(context.messages.map(({ entryId }) => entryId)).toEqual(["text", "call", "result", "bash", "custom", "edited"])
  const [text, calling, result, bash, custom, edited] = context.messages.map(({ message }) => message.content)
  const missing = { type: "text", text: expect.stringMatching(/missing/) }
  expect(text).toEqual([missing])
  expect(calling).toEqual([
    missing,
    { ...call, arguments: { path: "a.ts", content: expect.stringMatching(/missing/) } },
  ])
  expect(result).toEqual([missing])
  expect(JSON.stringify(bash)).toMatch(/missing/)
  expect(custom).toEqual([missing])
  expect(edited).toEqual([missing])
  expect(context.diagnostics.map(({ code }) => code)).toEqual(Array.from({ length: 6 }, () => "missing_blob"))
  const told: Diagnostic[] = []
  open.on("diagnostic", (diagnostic) => told.push(diagnostic))
  expect(await open.entry("text")).toMatchObject({
    message: { content: [{ text: expect.stringMatching(/^blob:sha256:/) }] },
  })
  expect(told).toMatchObject([{ code: "missing_blob", entryId: "text" }])
  const { entries } = await open.path({ types: ["message"] })
  expect(entries.find(({ id }) => id === "text")).toEqual(await open.entry("text"))
  expect(told.slice(1).map(({ code }) => code)).toContain("missing_blob")
  expect(hashes.some((hash) => (told[0] as Diagnostic).message.includes(hash))).toBe(true)
  const prompts: string[] = []
  await open.append({ type: "message", message: { role: "assistant", content: "done" } })
  await compact(open, { keepRecentTokens: 0, summarize: async ({ prompt }) => (prompts.push(prompt), "s") })
  expect(prompts.join()).toMatch(/missing/)
  expect(prompts.join()).not.toContain("blob:sha256:")
})

test("two sessions share one blob, and deleting one leaves it to the other", async () => {
  const location = createMemoryLocation()
  const sessions = createSessions({ storage: createMemoryStorage({ location }) })
  for (const id of ["a", "b"]) {
    const session = await sessions.create({ id })
    await session.append(user(LONG))
    await session.close()
  }
  expect(location.blobs.size).toBe(1)
  await sessions.delete("a")
  const { messages } = await (await sessions.open("b")).context()
  expect(messages[0]?.message.content).toMatchObject([{ text: LONG }])
})

test("an invalid map of blobs, or one with invalid places, changes nothing and stops nothing", async () => {
  const location = createMemoryLocation()
  const storage = createMemoryStorage({ location })
  const hash = await storage.blobs.put(new TextEncoder().encode("something else"))
  const reference = `blob:sha256:${hash}`
  const hostile = [
    [],
    "utf8",
    null,
    5,
    { "/message/content/0/text": "hex" },
    { "": "utf8", "/": "utf8", "no pointer": "utf8", "/~2": "utf8" },
    { "/type": "utf8", "/id": "utf8", "/parentId": "utf8", "/timestamp": "utf8", "/blobs": "utf8" },
    { "/__proto__/polluted": "utf8", "/constructor/prototype/polluted": "utf8", "/message/content/9/text": "utf8" },
    { "/message/content/length": "utf8", "/message/role/0": "utf8" },
  ]
  const header = { type: "session", format: "@sessions", version: 4, id: "s", timestamp: "2026-01-31T09:30:00.000Z" }
  const entries = hostile.map((blobs, index) => ({
    type: "message",
    id: index === 6 ? reference : `e${index}`,
    parentId: index === 0 ? null : index === 7 ? reference : `e${index - 1}`,
    seq: index + 1,
    timestamp: "2026-01-31T09:30:00.000Z",
    message: { role: "user", content: [{ type: "text", text: `say ${index}` }] },
    blobs,
  }))
  const lines = [header, ...entries].map((record) => JSON.stringify(record))
  await storage.append("s", lines, { expect: 0 })
  const session = await createSessions({ storage }).open("s")
  const { messages } = await session.context()
  expect(messages.map(({ entryId }) => entryId)).toEqual(entries.map(({ id }) => id))
  expect(messages.map(({ message }) => message.content)).toEqual(entries.map(({ message }) => message.content))
  expect((await collect(session)).map(({ id }) => id)).toEqual(entries.map(({ id }) => id))
  expect((await session.info()).messageCount).toBe(hostile.length)
  expect(Object.prototype).not.toHaveProperty("polluted")
})

test("a reference whose blob has the wrong kind of content counts as missing", async () => {
  const { session, location, reopen } = await start({ textUnits: 10 })
  await session.append(user("more than ten"))
  const [hash] = location.blobs.keys()
  location.blobs.set(hash as string, { bytes: Uint8Array.of(0xff, 0xfe, 0x00), putAt: 0 })
  const { messages, diagnostics } = await (await reopen()).context()
  expect(JSON.stringify(messages)).toMatch(/missing/)
  expect(diagnostics).toMatchObject([{ code: "missing_blob" }])
})

test("blobs are written before the line that names them", async () => {
  const { session, location } = await start({ textUnits: 10 })
  const appended = session.append(user("more than ten"))
  expect(await storedEntries(location)).toEqual([])
  await appended
  const [entry] = await storedEntries(location)
  const { content } = (entry as Entry)["message"] as { content: readonly { text: string }[] }
  expect(location.blobs.has(content[0]?.text.slice("blob:sha256:".length) ?? "")).toBe(true)
})

async function start(blobs: { textUnits?: number; imageChars?: number } = {}) {
  const location: MemoryLocation = createMemoryLocation()
  const session = await createSessions({ storage: createMemoryStorage({ location }), blobs }).create({ id: "s" })
  const reopen = (): Promise<Session> => createSessions({ storage: createMemoryStorage({ location }), blobs }).open("s")
  return { session, location, reopen }
}

async function collect(session: Session): Promise<Entry[]> {
  const entries: Entry[] = []
  for await (const entry of session.entries()) entries.push(entry)
  return entries
}

test("with oversize: truncate appended content is cut in memory and in the log, except images and signed content", async () => {
  const location = createMemoryLocation()
  const sessions = createSessions({ storage: createMemoryStorage({ location }), oversize: "truncate" })
  const session = await sessions.create()
  const signed = { type: "thinking" as const, thinking: LONG, signature: "s" }
  await session.append([
    { type: "custom", customType: "file", data: { content: LONG, lineCount: 9 } },
    { type: "message", message: { role: "assistant", content: [{ type: "text", text: LONG }, signed] } },
    said(image(IMAGE)),
  ])
  const { messages } = await session.context()
  const [text, thought] = (messages[0] as (typeof messages)[0]).message.content as [{ text: string }, unknown]
  expect(text.text).toHaveLength(500_000)
  expect(text.text.endsWith("[Session persistence truncated large content]")).toBe(true)
  expect(thought).toEqual(signed)
  expect(messages[1]?.message.content).toEqual([image(IMAGE)])
  const [file, answer] = await storedEntries(location, session.id)
  expect(file?.["data"]).toMatchObject({ lineCount: 1 })
  expect(JSON.stringify(answer)).toContain(text.text)
})
