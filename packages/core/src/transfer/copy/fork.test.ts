import { createMemoryStorage } from "@sessions/memory"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { anyLog, headerOf, slotsOf, validLog } from "../../../test/logs.ts"
import { holdsAsync } from "../../../test/property.ts"
import { expectMessages } from "../../../test/replay.ts"
import { STORED_ID, storeLines } from "../../../test/stored.ts"
import { codeOf, linesIn, sessionsIn, smallBatches } from "../../../test/transfer.ts"
import { assistant, user } from "../../../test/writers.ts"
import { buildSessionContext } from "../../context/build.ts"
import type { SessionContext } from "../../context/types.ts"
import { parseLine } from "../../format/line.ts"
import type { Message } from "../../format/message.ts"
import { identifyLog } from "../../format/identify.ts"
import { EntryLog } from "../../log/entry-log.ts"
import { labelsOf } from "../../log/nodes.ts"
import { pathTo } from "../../log/walk.ts"
import { forkSession, verifySession } from "../index.ts"

const isOurs = (lines: readonly string[]) => identifyLog(lines.slice(0, 1)).kind === "sessions"

/** The messages of a leaf's context and the entries they come from, without the diagnostics. */
/** Without `reused`: the fork has no entries of other branches, which may be what broke the prefix. */
function said(whole: SessionContext<Message>): unknown {
  const { compaction, reused: _, ...context } = whole
  return { ...context, compaction: compaction?.entryId, diagnostics: [] }
}

async function forked(lines: readonly string[], pick: number) {
  const storage = await storeLines(lines)
  const sessions = sessionsIn(storage)
  const slots = slotsOf(lines)
  const ids = slots.flatMap((slot) => (slot === undefined ? [] : [slot.id]))
  const at = ids[pick % Math.max(ids.length, 1)]
  const fork = await forkSession(sessions, STORED_ID, { id: "fork", ...(at === undefined ? {} : { at }) })
  const forkLines = await linesIn(storage, "fork")
  return { sessions, slots, at, fork, forkLines, forkSlots: slotsOf(forkLines) }
}

test("the context of a fork at its leaf is the source's context at the entry, whatever was done to the source", async () => {
  await holdsAsync(
    fc.asyncProperty(anyLog.filter(isOurs), fc.nat(), async (lines, pick) => {
      const { slots, at, forkLines, forkSlots } = await forked(lines, pick)
      const there = buildSessionContext(slots, at ?? null, { header: headerOf(lines) as never })
      const here = buildSessionContext(forkSlots, undefined, { header: headerOf(forkLines) as never })
      expect(said(here)).toEqual(said(there))
    }),
    120,
  )
})

test("a fork has the source's history: across compactions, without deleted messages, with current labels and title", async () => {
  await holdsAsync(
    fc.asyncProperty(validLog, fc.nat(), async (lines, pick) => {
      const { sessions, slots, at, forkSlots } = await forked(lines, pick)
      const source = EntryLog.of(slots)
      const fork = EntryLog.of(forkSlots)
      const leaf = at === undefined ? undefined : source.find(at)
      const messages = leaf === undefined ? [] : expectMessages(slots, leaf)
      const history = expectMessages(forkSlots, forkSlots.length === 1 ? null : forkSlots.length - 1)
      expect(history.map((seq) => forkSlots[seq]?.id)).toEqual(messages.map((seq) => slots[seq]?.id))

      const path = leaf === undefined ? [] : pathTo(source, leaf).seqs
      // An entry that only refers to an absent entry stays behind, with its label.
      const there = new Set(
        path.filter((seq) => !REFERRING.has(slots[seq]?.type ?? "") || fork.find(slots[seq]?.id ?? "") !== undefined),
      )
      const labels = [...labelsOf(source)].filter(([seq]) => there.has(seq))
      // As maps, in any order: of a label that was set twice, the first one may stay behind.
      expect(new Map([...labelsOf(fork)].map(([seq, label]) => [forkSlots[seq]?.id, label]))).toEqual(
        new Map(labels.map(([seq, label]) => [slots[seq]?.id, label])),
      )
      const [from, to] = [await sessions.info(STORED_ID), await sessions.info("fork")]
      expect([to.title, to.titleSource, to.metadata]).toEqual([from.title, from.titleSource, from.metadata])
    }),
    40,
  )
})

test("a fork of a sound log is a sound log with correct hints; unchanged entries keep their stored lines except for seq", async () => {
  await holdsAsync(
    fc.asyncProperty(validLog, fc.nat(), async (lines, pick) => {
      const { sessions, slots, forkLines, forkSlots } = await forked(lines, pick)
      const { diagnostics } = await verifySession(sessions, "fork")
      const before = await verifySession(sessions, STORED_ID)
      const known = new Set(before.diagnostics.filter(({ code }) => OF_ITSELF.has(code)).map(({ entryId }) => entryId))
      expect(diagnostics.filter(({ entryId }) => !known.has(entryId))).toEqual([])
      const wrong = forkSlots.filter((entry, seq) => {
        const source = slots.find((slot) => slot?.id === entry?.id)
        if (entry === undefined || source === undefined) return false
        if (source["targetSeq"] !== undefined && entry.parentId !== null) {
          const target = entry.type === "leaf" ? entry.parentId : entry["targetId"]
          return forkSlots[Number(entry["targetSeq"])]?.id !== target
        }
        if (REFERRING.has(entry.type) || entry.parentId !== source.parentId) return false
        return forkLines[seq] !== (lines[source.seq] as string).replace(`"seq":${source.seq}`, `"seq":${seq}`)
      })
      expect(wrong).toEqual([])
    }),
    40,
  )
})

/** Damage within a single entry is copied. */
const OF_ITSELF: ReadonlySet<string> = new Set(["invalid_record", "state_mismatch"])
const REFERRING: ReadonlySet<string> = new Set(["compaction", "leaf", "tombstone", "label", "context_edit"])

test("a fork's hints have the positions of its own entries", async () => {
  const sessions = sessionsIn()
  const source = await sessions.create({ id: "s" })
  await source.append([user("left out", "x")])
  await source.resetLeaf()
  await source.append([user("one", "a"), user("two", "b")])
  await source.append({
    type: "compaction",
    id: "c",
    summary: "so far",
    firstKeptEntryId: "b",
    tokensBefore: 1,
    readFiles: [],
    modifiedFiles: [],
  })
  await source.label("a", "first")
  const fork = await forkSession(sessions, "s")
  const slots = slotsOf(await linesIn(sessions.storage, fork.id))
  const seqOf = (id: string) => slots.findIndex((slot) => slot?.id === id)
  expect(slots[seqOf("c")]).toMatchObject({ firstKeptEntryId: "b", firstKeptSeq: seqOf("b") })
  expect(slots.at(-1)).toMatchObject({ type: "label", targetSeq: seqOf("a") })
  expect(seqOf("x")).toBe(-1)
})

test("a field of an own type that has the name of a hint stays as it is in a fork", async () => {
  const sessions = sessionsIn()
  const source = await sessions.create({ id: "s" })
  await source.append([user("one", "a"), { type: "acme:note", id: "n", targetSeq: 7, firstKeptSeq: "x" }])
  await forkSession(sessions, "s", { id: "f" })
  const [, , note] = slotsOf(await linesIn(sessions.storage, "f"))
  expect(note).toMatchObject({ targetSeq: 7, firstKeptSeq: "x" })
})

test("a fork names its source and copies the header's other fields", async () => {
  const sessions = sessionsIn(undefined, { now: () => 0 })
  const source = await sessions.create({ id: "s", cwd: "/project", title: "T", systemPromptOverride: "Be brief." })
  await source.append([user("hi", "a"), user("there", "b")])
  const { header } = await forkSession(sessions, "s", { id: "f", at: "a" })
  expect(header).toEqual({
    type: "session",
    format: "@sessions",
    version: 4,
    id: "f",
    timestamp: "1970-01-01T00:00:00.000Z",
    creation: expect.not.stringMatching(source.header.creation as string),
    cwd: "/project",
    title: "T",
    systemPromptOverride: "Be brief.",
    parentSession: { id: "s", entryId: "a" },
    origin: { format: "@sessions", version: 4, id: "s" },
  })
})

test("queued entries fork as they are in memory", async () => {
  const sessions = sessionsIn()
  const source = await sessions.create({ id: "s" })
  await source.append(user("first", "a"))
  const image = { type: "image" as const, mimeType: "image/png", data: btoa("x".repeat(3_000)) }
  void source.append({ type: "message", id: "b", message: { role: "user", content: [image] } })
  const early = await forkSession(sessions, "s", { id: "early" })
  expect((await early.context()).messages.map(({ entryId }) => entryId)).toEqual(["a", "b"])
  expect((await early.context()).messages[1]?.message.content).toEqual([image])
  expect((await linesIn(sessions.storage, "early"))[2]).toContain("blob:sha256:")
  void source.append(assistant("now", "c"))
  const late = await forkSession(sessions, "s", { id: "late" })
  expect((await late.context()).messages.map(({ entryId }) => entryId)).toEqual(["a", "b", "c"])
})

test("a tombstone that is not on the forked path deletes its target in the fork too", async () => {
  const sessions = sessionsIn()
  const source = await sessions.create({ id: "s" })
  await source.append([user("secret", "a"), user("open", "b")])
  await source.branch("a")
  await source.tombstone("a")
  const fork = await forkSession(sessions, "s", { at: "b" })
  expect((await fork.messages()).messages.map(({ entryId }) => entryId)).toEqual(["b"])
  expect((await fork.context()).messages.map(({ entryId }) => entryId)).toEqual(["b"])
})

test("the label of an entry off the path stays behind, even if that entry is copied as the current title", async () => {
  const sessions = sessionsIn()
  const source = await sessions.create({ id: "s" })
  await source.append([user("one", "a"), { type: "title_change", id: "t", title: "Named", source: "user" }])
  await source.branch("a")
  await source.append([{ type: "label", id: "l", targetId: "t", label: "here" }, user("two", "b")])
  const fork = await forkSession(sessions, "s", { at: "b" })
  expect((await fork.info()).title).toBe("Named")
  const types = (await linesIn(sessions.storage, fork.id)).map((line) => parseLine(line).record?.type)
  expect(types).toContain("title_change")
  expect(types).not.toContain("label")
})

test("with duplicate ids, a compaction keeps the same entries in a fork, even if its first kept entry refers to one that stays behind", async () => {
  const header = {
    type: "session",
    format: "@sessions",
    version: 4,
    id: STORED_ID,
    timestamp: "2026-01-31T09:30:00.000Z",
  }
  const message = { type: "message", message: { role: "user", content: "hi" } }
  const entries = [
    { ...message, id: "root", parentId: null },
    { ...message, id: "there", parentId: "root" },
    { ...message, id: "a", parentId: "there" },
    { type: "title_change", id: "there", parentId: "root", title: "In force", source: "user" },
    { type: "label", id: "first", parentId: "a", targetId: "there", targetSeq: 4, label: "here" },
    { ...message, id: "twin", parentId: "first" },
    { ...message, id: "twin", parentId: "twin" },
    { type: "compaction", id: "c", parentId: "twin", summary: "so far", firstKeptEntryId: "first", tokensBefore: 1 },
  ].map((entry, index) => ({ ...entry, seq: index + 1, timestamp: header.timestamp }))
  const sessions = sessionsIn(await storeLines([header, ...entries].map((record) => JSON.stringify(record))))
  const ids = async (id: string) => {
    const session = await sessions.open(id)
    return (await session.context()).messages.map(({ entryId }) => entryId)
  }
  const fork = await forkSession(sessions, STORED_ID)
  expect(await ids(STORED_ID)).toEqual(["c", "twin", "twin"])
  expect(await ids(fork.id)).toEqual(["c", "twin", "twin"])
  expect((await sessions.open(fork.id)).leafId).toBe("c")
  const slots = slotsOf(await linesIn(sessions.storage, fork.id))
  // The label's target is not on the branch, though it is copied as the current title.
  expect(labelsOf(EntryLog.of(slots)).size).toBe(0)
  expect(slots[5]).toEqual({
    type: "label",
    id: "first",
    parentId: "a",
    seq: 5,
    timestamp: header.timestamp,
    label: "here",
  })
})

test("an unknown entry is `not_found` and a taken id is `exists`; nothing is written", async () => {
  const sessions = sessionsIn()
  const source = await sessions.create({ id: "s" })
  await source.append(user("hi", "a"))
  expect(await codeOf(forkSession(sessions, "s", { at: "nobody", id: "f" }))).toBe("not_found")
  expect(await codeOf(sessions.open("f"))).toBe("not_found")
  await sessions.create({ id: "taken" })
  expect(await codeOf(forkSession(sessions, "s", { id: "taken" }))).toBe("exists")
  expect(await linesIn(sessions.storage, "taken")).toHaveLength(1)
})

test("an interrupted fork is incomplete, and the same call completes it later", async () => {
  const storage = smallBatches()
  let clock = 1_000
  const sessions = sessionsIn(storage, { now: () => clock })
  const source = await sessions.create({ id: "s" })
  for (let i = 0; i < 20; i++) await source.append(user(`message ${i} ${"x".repeat(100)}`))
  const whole = await forkSession(sessions, "s", { id: "whole" })
  const lines = await linesIn(storage, "whole")
  expect(parseLine(lines[0] as string).record).toMatchObject({ origin: { id: "s", lines: 21 } })
  await storage.append("cut", [(lines[0] as string).replace('"whole"', '"cut"'), lines[1] as string], { expect: 0 })
  expect((await sessions.info("cut")).incomplete).toBe(true)
  clock = 2_000
  const completed = await forkSession(sessions, "s", { id: "cut" })
  expect((await linesIn(storage, "cut")).slice(1)).toEqual(lines.slice(1))
  expect((await sessions.info("cut")).incomplete).toBeUndefined()
  expect((await completed.context()).messages).toEqual((await whole.context()).messages)
})

test("a fork of an older log is migrated, and the older log stays as it is", async () => {
  const storage = smallBatches(100_000)
  const old = [
    { type: "session", version: 3, id: "o", timestamp: "2025-01-01T00:00:00.000Z", provider: "p", modelId: "m" },
    {
      type: "message",
      id: "a",
      parentId: null,
      timestamp: "2025-01-01T00:00:00.000Z",
      message: { role: "user", content: "hi" },
    },
    {
      type: "message",
      id: "b",
      parentId: "a",
      timestamp: "2025-01-01T00:00:00.000Z",
      message: { role: "user", content: "ho" },
    },
  ].map((record) => JSON.stringify(record))
  await storage.append("o", old, { expect: 0 })
  const sessions = sessionsIn(storage, { migrateOnWrite: false })
  const fork = await forkSession(sessions, "o", { at: "b" })
  expect(await fork.context()).toMatchObject({ model: { provider: "p", model: "m" } })
  expect((await fork.context()).messages.map(({ entryId }) => entryId)).toEqual(["a", "b"])
  await fork.append(user("goes on"))
  expect(await linesIn(storage, "o")).toEqual(old)
})

test("a log of a newer version is not forked", async () => {
  const storage = smallBatches(100_000)
  const header = { type: "session", format: "@sessions", version: 99, id: "n", timestamp: "2025-01-01T00:00:00.000Z" }
  const entry = {
    type: "message",
    id: "a",
    parentId: null,
    seq: 1,
    timestamp: "",
    message: { role: "user", content: [] },
  }
  await storage.append("n", [JSON.stringify(header), JSON.stringify(entry)], { expect: 0 })
  expect(await codeOf(forkSession(sessionsIn(storage), "n"))).toBe("newer_version")
})

test("a fork keeps the spelling of every line, except for its positions", async () => {
  const storage = createMemoryStorage()
  const base = '"timestamp":"2026-01-31T09:30:00.000Z"'
  const said = '"message":{"role":"user","content":"\\u0041","n":1.0}'
  const lines = [
    '{"type":"session","format":"@sessions","version":4,"id":"s","timestamp":"2026-01-31T09:30:00.000Z"}',
    `{"id":"a", "type":"message","parentId":null,${base},"seq":1, ${said}, "big":12345678901234567890 }`,
    `{"type":"message","id":"other","parentId":"a","seq":2,${base},${said}}`,
    `{ "x" : 1e400 ,"type":"message","id":"b","parentId":"a","seq":3,${base},${said}}\r`,
    `{"type":"label","id":"c","parentId":"other","targetId":"a","targetSeq":1,"label":"l","big":98765432109876543210,"seq":4,${base}}`,
    `{"type":"message","id":"d","parentId":"b",${base},${said}}`,
  ]
  await storage.append("s", lines, { expect: 0 })
  await forkSession(sessionsIn(storage), "s", { id: "f", at: "d" })
  const [, first, , second, label, unplaced] = lines as [string, string, string, string, string, string]
  expect((await linesIn(storage, "f")).slice(1)).toEqual([
    first,
    second.replace('"seq":3', '"seq":2'),
    label.replace('"seq":4', '"seq":3').replace('"parentId":"other"', '"parentId":"b"'),
    unplaced.replace(/\}$/, ',"seq":4}'),
  ])
})

test("a fork whose source is deleted before the fork is stored is removed: a collector may have taken its blobs", async () => {
  const storage = createMemoryStorage()
  await sessionsIn(storage).create({ id: "source", entries: [user("hello")] })
  const racing = {
    ...storage,
    async append(...args: Parameters<typeof storage.append>) {
      await storage.delete("source")
      return storage.append(...args)
    },
  }
  expect(await codeOf(forkSession(sessionsIn(racing), "source", { id: "fork" }))).toBe("conflict")
  expect(await storage.head("fork")).toBeUndefined()
})
