import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import type { Diagnostic } from "../../format/diagnostics.ts"
import type { Seq, SessionStorage } from "../../storage/contract.ts"
import { StorageError } from "../../storage/errors.ts"
import { readPastDamage } from "./past-damage.ts"
import { verifyStored } from "./verify.ts"

const AT = "2026-01-31T09:30:00.000Z"
const HEADER = { type: "session", format: "@sessions", version: 4, id: "s", timestamp: AT }

function lineAt(seq: Seq): string {
  const entry = { type: "message", id: `e${seq}`, parentId: seq === 1 ? null : `e${seq - 1}`, seq, timestamp: AT }
  return JSON.stringify(
    seq === 0 ? HEADER : { ...entry, message: { role: "user", content: [{ type: "text", text: "x" }] } },
  )
}

/** A log of `count` lines. A read is `corrupt` at the first damaged line of its range, and gives runs of 7 lines before that. */
async function damagedAt(count: number, isDamaged: (seq: Seq) => boolean, line = lineAt) {
  const storage = createMemoryStorage()
  await storage.append(
    "s",
    Array.from({ length: count }, (_, seq) => line(seq)),
    { expect: 0 },
  )
  const counted = { reads: 0 }
  const read: SessionStorage["read"] = async function* (_, range = {}) {
    const { from = 0, to = count } = range as { readonly from?: Seq; readonly to?: Seq }
    counted.reads++
    let run: string[] = []
    const end = Math.min(to, count)
    for (let seq = from; seq < end; seq++) {
      if (isDamaged(seq)) throw new StorageError("corrupt", `The line at byte ${seq} is not UTF-8.`)
      run.push(line(seq))
      if (run.length < 7 && seq < end - 1) continue
      yield { from: seq + 1 - run.length, lines: run }
      run = []
    }
  }
  return { storage: { ...storage, read } as SessionStorage, counted }
}

test("verify reports each line that is not UTF-8 and checks the lines after it", async () => {
  for (const damaged of [[0], [1], [5, 6], [3, 5, 7], [49], [0, 20, 21, 49]]) {
    const invalid = (seq: Seq): string => (seq === 30 ? lineAt(seq).replace('"role":"user"', '"role":7') : lineAt(seq))
    const { storage } = await damagedAt(50, (seq) => damaged.includes(seq), invalid)
    const report = await verifyStored(storage, "s")
    const runs = damaged.filter((seq) => !damaged.includes(seq - 1))
    expect(report.damaged).toBe(true)
    expect(codesOf(report.diagnostics, "unparsable_line")).toEqual(runs)
    expect(codesOf(report.diagnostics, "missing_parent")).toEqual(
      runs.map((seq) => seq + lengthAt(damaged, seq)).filter((seq) => seq > 1 && seq < 50),
    )
    expect(codesOf(report.diagnostics, "invalid_record")).toEqual([30])
    expect(codesOf(report.diagnostics, "incomplete")).toEqual([])
  }
})

test("verify reports damaged lines of an older log, which cannot be migrated", async () => {
  const older = (seq: Seq): string =>
    seq === 0 ? JSON.stringify({ ...HEADER, format: undefined, version: 3 }) : lineAt(seq)
  const { storage } = await damagedAt(20, (seq) => seq === 4 || seq === 9, older)
  const { diagnostics, damaged } = await verifyStored(storage, "s")
  expect(damaged).toBe(true)
  expect(codesOf(diagnostics, "unparsable_line")).toEqual([4, 9])
})

test("a missing part costs few reads, and the lines around it are all read", async () => {
  const { storage, counted } = await damagedAt(20_000, (seq) => seq >= 1_000 && seq < 17_000)
  const found: Diagnostic[] = []
  let lines = 0
  for await (const chunk of readPastDamage(storage, "s", 20_000, (diagnostic) => found.push(diagnostic)))
    lines += chunk.lines.length
  expect(lines).toBe(4_000)
  expect(found).toMatchObject([{ seq: 1_000, message: expect.stringContaining("Lines 1000 to 16999 were") as string }])
  expect(counted.reads).toBeLessThan(200)
})

test("a head that counts more lines than any log has costs few reads", async () => {
  const { storage, counted } = await damagedAt(20, () => false)
  const read: SessionStorage["read"] = (id, range = {}) => {
    if (counted.reads++ > 1_000) throw new Error("There are too many reads.")
    if ("to" in range && (range.to ?? 0) > 20) throw new StorageError("corrupt", "Line 20 is missing.")
    return storage.read(id, range)
  }
  const found: Diagnostic[] = []
  let lines = 0
  for await (const chunk of readPastDamage({ ...storage, read }, "s", 2 ** 52, (diagnostic) => found.push(diagnostic)))
    lines += chunk.lines.length
  expect(lines).toBe(20)
  expect(found).toMatchObject([
    { seq: 20, message: expect.stringMatching(/^Lines 20 to 4503599627370495 were/) as string },
  ])
  expect(counted.reads).toBeLessThan(300)
})

test("verify of a log with a line far behind its others ends, and reports what it left out", async () => {
  const { storage } = await damagedAt(20, () => false)
  const far = 2 ** 52 - 1
  const read: SessionStorage["read"] = (id, range = {}) => {
    const { from = 0, to = 20 } = range as { readonly from?: Seq; readonly to?: Seq }
    if (to <= 20) return storage.read(id, range)
    if (from < far) throw new StorageError("corrupt", "Line 20 is missing.")
    return (async function* () {
      yield { from: far, lines: [lineAt(far)] }
    })()
  }
  let end = 0
  for await (const { from, lines } of readPastDamage({ ...storage, read }, "s", far + 1, () => undefined))
    if (lines.length > 0) end = from + lines.length
  expect(end).toBe(20)
  const head: SessionStorage["head"] = async (id) => {
    const info = await storage.head(id)
    return info && { ...info, next: far + 1 }
  }
  const { diagnostics, damaged } = await verifyStored({ ...storage, read, head }, "s")
  expect(damaged).toBe(true)
  expect(codesOf(diagnostics, "unparsable_line")).toEqual([20])
  expect(codesOf(diagnostics, "incomplete")).toEqual([])
})

test("a storage that is not `corrupt` but unavailable is not damage", async () => {
  const { storage } = await damagedAt(5, () => false)
  const read: SessionStorage["read"] = () => {
    throw new StorageError("unavailable", "The network is down.")
  }
  await expect(verifyStored({ ...storage, read }, "s")).rejects.toMatchObject({ code: "unavailable" })
})

function codesOf(diagnostics: readonly Diagnostic[], code: string): readonly (Seq | undefined)[] {
  return diagnostics.filter((diagnostic) => diagnostic.code === code).map(({ seq }) => seq)
}

function lengthAt(damaged: readonly Seq[], seq: Seq): number {
  return damaged.includes(seq + 1) ? 1 + lengthAt(damaged, seq + 1) : 1
}
