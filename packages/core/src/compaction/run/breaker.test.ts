import { autoCompact, automaticCompaction, compact, compactionStatus, resetCompactionBreaker } from "../index.ts"
import { expect, test } from "vitest"
import { STORED_ID, storeLines } from "../../../test/stored.ts"
import { FILLER, startCompacting, SUMMARY } from "../../../test/compacting.ts"
import { assistant, codeOf, createWriter, storedEntries, twoWriters, user } from "../../../test/writers.ts"
import type { CompactionSettings, Summarize } from "../../compaction-settings/types.ts"
import { createSessions } from "../../session/repository.ts"

const TALK = [user(FILLER), assistant(FILLER)]
const failing: Summarize = async () => Promise.reject(new Error("overloaded"))
const settings = (summarize: Summarize, more: CompactionSettings = {}): CompactionSettings => ({
  thresholdTokens: 1_500,
  keepRecentTokens: 0,
  summarize,
  ...more,
})

test("a failed automatic compaction is an event and a diagnostic; the turn and its appends are unaffected", async () => {
  const { session, told, location } = await startCompacting({ compaction: automaticCompaction(settings(failing)) })
  const diagnostics: string[] = []
  session.on("diagnostic", ({ code }) => diagnostics.push(code))
  expect(await session.turn(async (turn) => (await turn.append(TALK), "done"))).toBe("done")
  expect(told).toMatchObject([
    ["compact_start", { reason: "threshold" }],
    ["compact_failed", { kind: "failed", failures: 1, breakerOpen: false, error: { code: "compaction_failed" } }],
  ])
  expect(diagnostics).toEqual(["compaction_failed"])
  expect(session.diagnostics).toMatchObject([
    { code: "compaction_failed", message: expect.stringContaining("overloaded") },
  ])
  expect((await storedEntries(location)).map(({ type }) => type)).toEqual(["message", "message"])
})

test("after three failures in a row no request is made, until a reset or a compaction by hand", async () => {
  let asked = 0
  let answer: Summarize = failing
  const summarize: Summarize = (request) => (asked++, answer(request))
  const { session, sessions, told } = await startCompacting({ compaction: automaticCompaction(settings(summarize)) })
  await session.append(TALK)
  for (let turn = 0; turn < 5; turn++) await session.turn(() => undefined)
  expect(asked).toBe(3)
  expect(told.at(-1)).toMatchObject(["compact_failed", { failures: 3, breakerOpen: true }])
  expect(compactionStatus(session)).toEqual({ running: false, failures: 3, breakerOpen: true })
  expect(await autoCompact(session)).toBe(undefined)
  expect(asked).toBe(3)
  // All handles share it.
  const other = await sessions.open("s")
  expect(compactionStatus(other).breakerOpen).toBe(true)
  resetCompactionBreaker(other)
  expect(compactionStatus(session)).toEqual({ running: false, failures: 0, breakerOpen: false })
  await session.turn(() => undefined)
  expect(asked).toBe(5)
  expect(compactionStatus(session).failures).toBe(2)
  await session.turn(() => undefined)
  expect(compactionStatus(session).breakerOpen).toBe(true)
  answer = async () => SUMMARY
  await compact(session)
  expect(compactionStatus(session)).toEqual({ running: false, failures: 0, breakerOpen: false })
  expect(session.diagnostics).toEqual([])
})

test("a success between failures restarts the count; the maximum is a setting", async () => {
  let answer: Summarize = failing
  const { session, told } = await startCompacting({
    compaction: automaticCompaction(settings((request) => answer(request), { maxFailures: 2 })),
  })
  await session.append(TALK)
  await autoCompact(session)
  answer = async () => SUMMARY
  await autoCompact(session)
  answer = failing
  await session.append(TALK)
  await autoCompact(session)
  expect(compactionStatus(session)).toMatchObject({ failures: 1, breakerOpen: false })
  await autoCompact(session)
  expect(told.at(-1)).toMatchObject(["compact_failed", { failures: 2, breakerOpen: true }])
})

test("a compaction by hand rejects, counts, and runs also while the breaker is open", async () => {
  const { session, told } = await startCompacting()
  await session.append(TALK)
  for (let failures = 1; failures <= 4; failures++) {
    expect(await codeOf(compact(session, settings(failing)))).toBe("compaction_failed")
    expect(told.at(-1)).toMatchObject(["compact_failed", { failures, breakerOpen: failures >= 3 }])
  }
  expect(session.diagnostics).toEqual([])
})

test("moved, nothing to cut, aborted and closed do not count as failures", async () => {
  const { session, sessions } = await startCompacting()
  const other = await sessions.open("s")
  const failures: unknown[] = []
  // On another handle: a closed one gets no events.
  other.on("compact_failed", (event) => failures.push(event))
  await session.append(TALK)
  const moving: Summarize = async () => (await session.append({ type: "reset_boundary" }), SUMMARY)
  await expect(compact(session, settings(moving))).rejects.toThrow(/moved/)
  await expect(compact(session, settings(failing))).rejects.toThrow(/nothing to cut/)
  const stop = new AbortController()
  const aborting: Summarize = async () => (stop.abort(), new Promise(() => undefined))
  await session.append(TALK)
  expect(await codeOf(compact(session, { ...settings(aborting), signal: stop.signal }))).toBe("aborted")
  const closing: Summarize = async () => (await session.close(), SUMMARY)
  expect(await codeOf(compact(session, settings(closing)))).toBe("closed")
  expect(failures).toMatchObject([
    { kind: "moved", failures: 0 },
    { kind: "nothing_to_cut", failures: 0 },
    { kind: "stopped", failures: 0 },
    { kind: "stopped", failures: 0 },
  ])
})

test("a result that would not be shorter is a failure: every turn would pay for another request", async () => {
  const { session, told } = await startCompacting({
    compaction: automaticCompaction(settings(async () => FILLER.repeat(3))),
  })
  await session.append(TALK)
  expect(await autoCompact(session)).toBe(undefined)
  expect(told.at(-1)).toMatchObject(["compact_failed", { kind: "failed", failures: 1 }])
})

test("a failing storage is reported too, in automatic compactions and by hand", async () => {
  const { storage, sessions } = createWriter()
  const session = await sessions.create({ id: "s", compaction: automaticCompaction(settings(async () => SUMMARY)) })
  await session.append(TALK)
  const told: unknown[] = []
  session.on("compact_failed", ({ kind, failures }) => told.push([kind, failures]))
  storage.fail("append", "quota")
  expect(await autoCompact(session)).toBe(undefined)
  storage.fail("append", "quota")
  expect(await codeOf(compact(session))).toBe("quota")
  expect(told).toEqual([
    ["failed", 1],
    ["failed", 2],
  ])
  expect(await autoCompact(session)).toBeDefined()
})

test("a read-only session makes no summary request", async () => {
  const header = {
    type: "session",
    format: "@sessions",
    version: 99,
    id: STORED_ID,
    timestamp: "2026-01-31T09:30:00.000Z",
  }
  const said = { type: "message", id: "a", parentId: null, seq: 1, timestamp: header.timestamp }
  const message = { role: "user", content: [{ type: "text", text: FILLER.repeat(3) }] }
  const storage = await storeLines([header, { ...said, message }].map((record) => JSON.stringify(record)))
  const session = await createSessions({ storage }).open(STORED_ID)
  let asked = 0
  const summarize: Summarize = async () => String(asked++)
  expect(await codeOf(compact(session, settings(summarize)))).toBe("newer_version")
  expect(await autoCompact(session, settings(summarize))).toBeUndefined()
  expect(asked).toBe(0)
})

test("while a compaction runs, autoCompact does nothing and compact rejects", async () => {
  const { session, told } = await startCompacting()
  await session.append(TALK)
  let answer: (summary: string) => void = () => undefined
  const first = compact(
    session,
    settings(() => new Promise((resolve) => (answer = resolve))),
  )
  expect(compactionStatus(session).running).toBe(true)
  expect(await autoCompact(session, settings(failing))).toBe(undefined)
  await expect(compact(session, settings(failing))).rejects.toThrow(/another compaction is running/)
  await expect.poll(() => (answer(SUMMARY), compactionStatus(session).running)).toBe(false)
  await first
  expect(told.map(([name]) => name)).toEqual(["compact_start", "compact_complete"])
})

test("aborting a turn aborts its compaction, which leaves no trace", async () => {
  const stop = new AbortController()
  const aborting: Summarize = async () => (stop.abort(), new Promise(() => undefined))
  const { session, told, location } = await startCompacting({ compaction: automaticCompaction(settings(aborting)) })
  await session.append(TALK)
  expect(await codeOf(session.turn(() => undefined, { signal: stop.signal }))).toBe("aborted")
  expect(told.at(-1)).toMatchObject(["compact_failed", { kind: "stopped", failures: 0 }])
  expect(session.diagnostics).toEqual([])
  expect((await storedEntries(location)).map(({ type }) => type)).toEqual(["message", "message"])
})

test("a turn that is aborted after its end still ends", async () => {
  const stop = new AbortController()
  const aborting: Summarize = async () => (stop.abort(), new Promise(() => undefined))
  const { session, told } = await startCompacting({ compaction: automaticCompaction(settings(aborting)) })
  const turn = session.turn(async (inner) => (await inner.append(TALK), "done"), { signal: stop.signal })
  expect(await turn).toBe("done")
  expect(told.at(-1)).toMatchObject(["compact_failed", { kind: "stopped" }])
})

test("a compaction that hangs before a turn times out, and the turn runs", async () => {
  const { session } = await startCompacting({
    compaction: automaticCompaction(settings(() => new Promise(() => undefined), { timeout: 5 })),
  })
  await session.append(TALK)
  expect(await session.turn(() => "ran")).toBe("ran")
  expect(session.diagnostics.at(-1)?.message).toMatch(/no answer within 5 ms/)
})

test("a compaction does not count as the turn's first message: if another writer appends after it, the turn starts over", async () => {
  const { one, two, location } = await twoWriters({}, TALK)
  const attempts: number[] = []
  await one.turn(async (turn, { attempt }) => {
    attempts.push(attempt)
    if (attempt === 0) {
      await compact(
        turn,
        settings(async () => SUMMARY),
      )
      await two.append(user("meanwhile"))
    }
    await turn.append(user("mine"))
  })
  expect(attempts).toEqual([0, 1])
  expect((await storedEntries(location)).map(({ type }) => type)).toEqual([
    "message",
    "message",
    "compaction",
    "message",
    "message",
  ])
})

test("within a turn, a context that was rejected as too long is compacted by hand, with that reason", async () => {
  const { session, told } = await startCompacting()
  await session.turn(async (turn) => {
    await turn.append(TALK)
    await compact(turn, { ...settings(async () => SUMMARY), reason: "overflow" })
    await turn.append(assistant("went on"))
  })
  expect(told[0]).toEqual(["compact_start", { reason: "overflow" }])
  expect((await session.context()).messages).toHaveLength(2)
})
