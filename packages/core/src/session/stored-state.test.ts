import { branchWithSummary, compact } from "../compaction/index.ts"
import { createMemoryStorage } from "@sessions/memory"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { slotsOf } from "../../test/logs.ts"
import { holdsAsync } from "../../test/property.ts"
import { foldPlainly, pathOf } from "../../test/replay.ts"
import { sessionsReading, STORED_ID } from "../../test/stored.ts"
import type { NewEntry } from "../format/new-entry.ts"
import type { Entry } from "../format/entry.ts"
import { storesState } from "../format/entry-types.ts"
import { hasCode } from "../format/errors.ts"
import type { Chunk, HeadInfo, SessionStorage } from "../storage/contract.ts"
import { readLines } from "../log/load.ts"
import { createSessions } from "./repository.ts"
import { verifySession } from "../transfer/index.ts"
import type { Session } from "./types.ts"

type Fields = Readonly<Record<string, unknown>>

const KINDS = [
  "say",
  "answer",
  "change",
  "change",
  "branch",
  "summarize",
  "reset",
  "boundary",
  "tombstone",
  "edit",
  "compact",
  "compact",
  "append",
  "reopen",
] as const
type Step = readonly [kind: (typeof KINDS)[number], a: number, b: number]

const script = fc.array(fc.tuple(fc.constantFrom(...KINDS), fc.nat({ max: 999 }), fc.nat({ max: 999 })), {
  maxLength: 40,
  size: "max",
})

const CHANGES: readonly Fields[] = [
  { type: "model_change", provider: "p", model: "1" },
  { type: "model_change", provider: "p", model: "2", role: "smol" },
  { type: "model_change", provider: "p", model: "3", role: "__proto__" },
  { type: "thinking_level_change", thinkingLevel: "high" },
  { type: "thinking_level_change", thinkingLevel: "low" },
  { type: "mode_change", mode: "plan", data: { step: 1 } },
  { type: "mode_change", mode: "none" },
  { type: "ttsr_injection", injectedRules: ["b", "a"] },
  { type: "ttsr_injection", injectedRules: ["c", "b"] },
]

/** Runs each step on a session; returns the lines of its log and the ids that `compact` wrote. */
async function run(steps: readonly Step[]): Promise<{ lines: string[]; compactions: string[] }> {
  const storage = createMemoryStorage()
  const open = (): Promise<Session> => sessionsReading(storage, 1).open(STORED_ID)
  let session = await sessionsReading(storage, 1).create({ id: STORED_ID, systemPromptOverride: "Be brief." })
  const ids: string[] = []
  const compactions: string[] = []
  const add = async (entry: Fields): Promise<unknown> => ids.push(...(await session.append(entry as NewEntry)).ids)
  for (const [kind, a, b] of steps) {
    const id = ids[a % Math.max(1, ids.length)]
    if (kind === "say") await add({ type: "message", message: { role: "user", content: `say ${a} `.repeat(20) } })
    if (kind === "answer") {
      await add({
        type: "message",
        message: { role: "assistant", content: "yes ".repeat(40), provider: "q", model: `${b % 3}` },
      })
    }
    if (kind === "change") await add(CHANGES[a % CHANGES.length] as Fields)
    if (kind === "boundary" && b % 3 === 0) await add({ type: "reset_boundary" })
    if (kind === "append") await add({ type: "compaction", summary: "s", firstKeptEntryId: id ?? "none", ...UNKNOWN })
    if (kind === "branch" && id !== undefined) await session.branch(id)
    if (kind === "summarize" && id !== undefined) await branchWithSummary(session, id, "went elsewhere")
    if (kind === "reset" && b % 4 === 0) await session.resetLeaf()
    if (kind === "tombstone" && id !== undefined) await session.tombstone(id)
    if (kind === "edit" && id !== undefined) await session.edit(id, { content: "edited" }).catch(refused)
    if (kind === "compact") {
      const done = await compact(session, { summarize: async () => "s", keepRecentTokens: b % 100 }).catch(refused)
      if (done !== undefined) compactions.push(done.entryId)
    }
    if (kind === "reopen") session = await open()
  }
  return { lines: await readLines(storage, STORED_ID, {}), compactions }
}

const UNKNOWN = { tokensBefore: 0, readFiles: [], modifiedFiles: [] }

/** Errors that random steps may cause: editing a compaction, and compacting if nothing can be cut. */
function refused(error: unknown): undefined {
  if (!hasCode(error, "invalid") && !hasCode(error, "compaction_failed")) throw error
}

test("a session stores the path's state in every compaction and reset, however much of the log is in memory", async () => {
  let compacted = 0
  await holdsAsync(
    fc.asyncProperty(script, async (steps) => {
      const { lines, compactions } = await run(steps)
      const slots = slotsOf(lines)
      const stored = slots.flatMap((slot, seq) => (slot !== undefined && storesState(slot.type) ? [seq] : []))
      const projected = stored.map((seq) => {
        const path = pathOf(slots, seq).map((at) => slots[at] as Entry)
        return foldPlainly(path.slice(0, -1), { systemPromptOverride: "Be brief." })
      })
      expect(stored.map((seq) => slots[seq]?.["state"])).toEqual(projected)
      expect(stored.map((seq) => slots[seq]?.id)).toEqual(expect.arrayContaining(compactions))
      compacted += compactions.length
    }),
    150,
  )
  expect(compacted).toBeGreaterThan(20)
})

test("data that is too large for a line is restored in the state, also through a compaction that carries the state on", async () => {
  const storage = createMemoryStorage()
  const data = {
    shot: { type: "image", data: btoa("an image ".repeat(200)), mimeType: "image/png" },
    text: "x".repeat(600_000),
  }
  const first = await sessionsReading(storage, 1).create({ id: STORED_ID })
  await first.append({ type: "mode_change", mode: "plan", data })
  expect((await first.context()).modeData).toEqual(data)
  await first.append({ type: "message", message: { role: "user", content: "a" } })

  const second = await sessionsReading(storage, 1).open(STORED_ID)
  expect((await second.context()).modeData).toEqual(data)
  await second.append({ type: "compaction", id: "c1", summary: "s", firstKeptEntryId: "c1", ...UNKNOWN })
  expect((await second.context()).modeData).toEqual(data)
  expect((await readLines(storage, STORED_ID, {})).at(-1)?.length).toBeLessThan(2_000)

  const third = await sessionsReading(storage, 1).open(STORED_ID)
  await third.append({ type: "reset_boundary" })
  expect((await third.context()).modeData).toEqual(data)
  expect((await readLines(storage, STORED_ID, {})).at(-1)?.length).toBeLessThan(2_000)
  await third.append({ type: "compaction", id: "c2", summary: "s", firstKeptEntryId: "c2", ...UNKNOWN })
  const fourth = await sessionsReading(storage, 1).open(STORED_ID)
  expect((await fourth.context()).modeData).toEqual(data)
  await fourth.append({ type: "mode_change", mode: "none" })
  await fourth.append({ type: "compaction", id: "c3", summary: "s", firstKeptEntryId: "c3", ...UNKNOWN })
  expect(await fourth.context()).not.toHaveProperty("modeData")
  expect(await fourth.entry("c3")).not.toHaveProperty("blobs")
})

test("a mode in the same append as the compaction replaces one whose data is in the blob store", async () => {
  const storage = createMemoryStorage()
  const session = await sessionsReading(storage, 1).create({ id: STORED_ID })
  await session.append({ type: "mode_change", mode: "plan", data: { text: "x".repeat(600_000) } })
  await (await sessionsReading(storage, 1).open(STORED_ID)).append([
    { type: "mode_change", mode: "edit", data: { text: "short" } },
    { type: "compaction", id: "c1", summary: "s", firstKeptEntryId: "c1", ...UNKNOWN },
  ])
  const again = await sessionsReading(storage, 1).open(STORED_ID)
  expect(await again.context()).toMatchObject({ mode: "edit", modeData: { text: "short" } })
  expect(await again.entry("c1")).not.toHaveProperty("blobs")
})

test("an entry whose path is read from a replaced log is still appended; in a deleted session it fails with `not_found`", async () => {
  for (const [change, outcome] of [
    ["replace", "appended"],
    ["delete", "not_found"],
  ] as const) {
    const storage = createMemoryStorage()
    const first = await sessionsReading(storage, 1).create({ id: STORED_ID })
    for (const content of ["a", "b", "c"]) await first.append({ type: "message", message: { role: "user", content } })
    const session = await sessionsReading(storage, 1).open(STORED_ID)
    if (change === "delete") await storage.delete(STORED_ID)
    if (change === "replace") await replaceWithItself(storage)
    const appended = session.append({ type: "reset_boundary", id: "r" }).then(
      () => "appended",
      (error: unknown) => (error as { code: unknown }).code,
    )
    expect(await appended, change).toBe(outcome)
  }
})

async function replaceWithItself(storage: SessionStorage): Promise<void> {
  const { next, log } = (await storage.head(STORED_ID)) as HeadInfo
  const lines = await readLines(storage, STORED_ID, {})
  const chunks = async function* (): AsyncIterable<Chunk> {
    yield { from: 0, lines }
  }
  await storage.replace?.(STORED_ID, chunks(), { expect: { next, log } })
}

test("settings are their texts in the context, in stored states and for verify, however long they are", async () => {
  const storage = createMemoryStorage()
  const o = { storage, blobs: { textUnits: 20 } }
  const sessions = createSessions(o)
  const session = await sessions.create({ id: "s" })
  const long = (text: string): string => text.repeat(30)
  await session.append([
    { type: "message", message: { role: "assistant", content: "a", provider: long("p"), model: long("m") } },
    { type: "thinking_level_change", thinkingLevel: long("t") },
    { type: "model_change", provider: long("p"), model: long("n"), role: long("r") },
    { type: "mode_change", mode: long("x"), data: { text: long("d") } },
    { type: "ttsr_injection", injectedRules: [long("i")] },
  ])
  const settings = {
    thinkingLevel: long("t"),
    models: {
      default: { provider: long("p"), model: long("m") },
      [long("r")]: { provider: long("p"), model: long("n") },
    },
    mode: long("x"),
    modeData: { text: long("d") },
    injectedTtsrRules: [long("i")],
  }
  expect(await session.context()).toMatchObject(settings)
  await session.append({ type: "reset_boundary" })
  expect(await (await createSessions(o).open("s")).context()).toMatchObject(settings)
  expect((await verifySession(sessions, "s")).diagnostics).toEqual([])
})

test("the data of a mode that only its compaction has in the blob store is no damage for verify", async () => {
  const storage = createMemoryStorage()
  const data = { text: "d".repeat(30) }
  const entries = [{ type: "mode_change", mode: "m", data }] as const
  await (await createSessions({ storage }).create({ id: "s", entries })).close()
  const sessions = createSessions({ storage, blobs: { textUnits: 20 } })
  const session = await sessions.open("s")
  await session.append({ type: "reset_boundary" })
  expect(await session.context()).toMatchObject({ mode: "m", modeData: data })
  expect((await verifySession(sessions, "s")).diagnostics).toEqual([])
})
