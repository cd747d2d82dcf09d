/**
 * The laws of a format, as tests over its golden files. A format's test file calls {@link testLaws} with its files; files with special
 * contents get tests of their own.
 */
import { type Entry, SessionError, type Session, type Sessions, createSessions } from "@sessions/core"
import { verifySession } from "@sessions/core/transfer"
import { createMemoryStorage } from "@sessions/memory"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { eachRecord, type Format, type WriteOptions } from "../src/base/format.ts"
import { writers } from "../src/formats.ts"
import { importFile } from "../src/import-file.ts"
import { isObject } from "../src/base/values.ts"
import { filesLike } from "./random-files.ts"

export interface Golden {
  readonly text: string
  /** The files beside it, by name. */
  readonly beside?: Readonly<Record<string, string>>
}

export interface Imported {
  readonly sessions: Sessions
  readonly session: Session
  readonly entries: readonly Entry[]
  /** Code and message of each diagnostic of the import. */
  readonly diagnostics: readonly { readonly code: string; readonly message: string }[]
  readonly added: boolean
}

/** Reads a golden file or a fixture into a new repository in memory, or into the given one. */
export async function importText(format: Format, golden: Golden, into?: Sessions): Promise<Imported> {
  const sessions = into ?? createSessions({ storage: createMemoryStorage() })
  const beside = (name: string) => {
    const text = golden.beside?.[name]
    return text === undefined ? undefined : piecesOf(new TextEncoder().encode(text))
  }
  const bytes = new TextEncoder().encode(golden.text)
  const result = await importFile(sessions, () => piecesOf(bytes), { from: format, beside })
  // A source is only read.
  expect(bytes).toEqual(new TextEncoder().encode(golden.text))
  const session = await sessions.open(result.id)
  await session.refresh()
  const entries: Entry[] = []
  for await (const entry of session.entries()) entries.push(entry)
  return { sessions, session, entries, diagnostics: result.diagnostics, added: result.added }
}

/** The written file as one text. */
export async function written(
  format: Pick<Format, "format" | "write">,
  session: Session,
  o: WriteOptions = {},
): Promise<string> {
  if (format.write === undefined) throw new Error(`${format.format} has no writer.`)
  let text = ""
  for await (const piece of format.write({ header: session.header, entries: () => session.entries() }, o)) text += piece
  return text
}

/** The records of a file in order, without a BOM. A line that is no JSON is a text. */
export function recordsOf(file: string): readonly unknown[] {
  const text = file.replace(/^\ufeff/, "")
  try {
    return [JSON.parse(text)]
  } catch {
    return text
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map(parsed)
  }
}

/** Roles and contents of the current path, without what an import adds to an entry. */
export function pathOf(entries: readonly Entry[], leafId: string | null): readonly unknown[] {
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  const path: unknown[] = []
  for (let entry = byId.get(leafId ?? ""); entry !== undefined; entry = byId.get(entry.parentId ?? "")) {
    if (entry.type === "message") path.unshift(entry.message)
    else if (entry.type === "compaction") path.unshift({ compaction: entry.summary })
  }
  return path
}

/** The records that a log was made of, in their order. */
export type Restore = (entries: readonly Entry[]) => readonly unknown[]

/** Tests every law on every golden file, and on random files like them. `restore` is needed for a format without a writer. */
export function testLaws(format: Format, goldens: Readonly<Record<string, Golden>>, restore?: Restore): void {
  const files = Object.entries(goldens)
  testRandomFiles(format, Object.values(goldens), restore)

  test.each(files)("%s is identified, and imported as an undamaged session", async (_, golden) => {
    expect(format.identify(golden.text)).toBe(true)
    const { sessions, session } = await importText(format, golden)
    const { diagnostics } = await verifySession(sessions, session.id)
    expect(diagnostics.filter(({ code }) => DAMAGE.has(code))).toEqual([])
  })

  test.each(files)("%s gives the same log at every import", async (_, golden) => {
    const [one, other] = [await importText(format, golden), await importText(format, golden)]
    expect(other.session.header).toEqual(one.session.header)
    expect(other.entries).toEqual(one.entries)
  })

  test.each(files)("%s imported again adds nothing", async (_, golden) => {
    const first = await importText(format, golden)
    const again = await importText(format, golden, first.sessions)
    expect([first.added, again.added]).toEqual([true, false])
    expect(again.entries).toEqual(first.entries)
  })

  test.each(files)("%s gives the same log in pieces of any size", async (_, golden) => {
    const records = async (size: number) => {
      const found: unknown[] = []
      const main = (async function* () {
        for (let at = 0; at < golden.text.length; at += size) yield golden.text.slice(at, at + size)
      })()
      const beside = (name: string) => {
        const text = golden.beside?.[name]
        return text === undefined ? undefined : piecesOf(new TextEncoder().encode(text))
      }
      for await (const record of eachRecord(format.read({ main, beside }, { note: () => undefined })))
        found.push(record)
      return found
    }
    expect(await records(7)).toEqual(await records(Number.POSITIVE_INFINITY))
  })

  test.each(files)("%s cut at every line and at random bytes gives a session or a SessionError", async (_, golden) => {
    const bytes = new TextEncoder().encode(golden.text)
    const ends = [...bytes.keys()].filter((at) => bytes[at] === 10)
    const cuts = fc.sample(fc.nat(bytes.length), { numRuns: 8, seed })
    for (const cut of [...spread(ends, 40), ...cuts]) {
      const text = decode(bytes, cut)
      expect(await exportOf(format, { ...golden, text }, restore), `cut at byte ${cut}`).toEqual(recordsOf(text))
    }
  })

  if (format.write === undefined) return

  test.each(files)("%s is exported as it was, line by line", async (_, golden) => {
    const { session } = await importText(format, golden)
    expect(recordsOf(await written(format, session))).toEqual(recordsOf(golden.text))
  })

  test.each(files)("%s exported and imported again has the same path", async (_, golden) => {
    const { session, entries } = await importText(format, golden)
    for (const branches of ["path", "all"] as const) {
      const again = await importText(format, { text: await written(format, session, { branches }) })
      expect(pathOf(again.entries, again.session.leafId)).toEqual(pathOf(entries, session.leafId))
    }
  })
}

/** The laws of every format on files that no agent wrote in this form. */
function testRandomFiles(format: Format, goldens: readonly Golden[], restore: Restore | undefined): void {
  test("random files are refused, or give an undamaged log with all of their records, the same at every import", async () => {
    await fc.assert(
      fc.asyncProperty(filesLike(goldens), async (golden) => {
        const imported = await importText(format, golden).catch(refusal)
        if (imported === undefined) return
        const { sessions, session, entries } = imported
        const records = recordsOf(golden.text)
        const { diagnostics } = await verifySession(sessions, session.id)
        expect(diagnostics.filter(({ code }) => DAMAGE.has(code))).toEqual([])
        expect(await restoredRecords(format, imported, restore)).toEqual(records)
        const unreadable = records.length === 1 ? 0 : records.filter((record) => !isObject(record)).length
        const reported = imported.diagnostics.filter(({ code }) => UNREADABLE_CODES.has(code)).length
        expect(reported).toBeGreaterThanOrEqual(unreadable)
        const other = await importText(format, golden)
        expect([other.session.header.origin, other.entries]).toEqual([session.header.origin, entries])
        if (session.header.origin?.id === undefined) return
        const again = await importText(format, golden, sessions)
        expect([again.added, again.entries]).toEqual([false, entries])
      }),
      { numRuns: RUNS, seed },
    )
  })

  test("the session of a random file has a context, and every writer writes it or refuses it", async () => {
    await fc.assert(
      fc.asyncProperty(filesLike(goldens), fc.constantFrom("path", "all"), async (golden, branches) => {
        const imported = await importText(format, golden).catch(refusal)
        if (imported === undefined) return
        const { session } = imported
        expect((await session.context()).messages).toBeInstanceOf(Array)
        for (const writer of writers) await written(writer, session, { branches }).catch(refusal)
      }),
      { numRuns: Math.ceil(RUNS / 2), seed },
    )
  })
}

const UNREADABLE_CODES: ReadonlySet<string> = new Set(["unparsable_line", "torn_tail"])

/** `FC_RUNS=…` overrides it. */
export const RUNS: number = Number(process.env["FC_RUNS"] ?? 35)

/** Of the laws of writers, whose sessions have the most forms: 5,000 runs each in the step `laws`, which gives 2,000 to others. */
export const WRITTEN_RUNS: number = process.env["FC_RUNS"] === undefined ? RUNS : Math.ceil(RUNS * 2.5)

async function restoredRecords(
  format: Format,
  { session, entries }: Imported,
  restore: Restore | undefined,
): Promise<readonly unknown[]> {
  if (format.write !== undefined) return recordsOf(await written(format, session))
  // A line that is no object is kept as its text.
  const parsedTexts = (records: readonly unknown[]) =>
    records.map((record) => (typeof record === "string" ? parsed(record) : record))
  if (restore === undefined) throw new Error(`${format.format} has no writer, so its tests need \`restore\`.`)
  return parsedTexts(restore(entries))
}

function refusal(error: unknown): undefined {
  if (!(error instanceof SessionError)) throw error
}

/** The records that are restored from the import of a file; those of the file for a refusal with a code. */
async function exportOf(format: Format, golden: Golden, restore: Restore | undefined): Promise<readonly unknown[]> {
  const imported = await importText(format, golden).catch(refusal)
  return imported === undefined ? recordsOf(golden.text) : restoredRecords(format, imported, restore)
}

/** Findings of `verify` that an importer must not cause. Missing parents and lost lines are those of the file. */
const DAMAGE: ReadonlySet<string> = new Set([
  "unparsable_line",
  "duplicate_id",
  "seq_mismatch",
  "missing_parent",
  "forward_reference",
  "missing_target",
  "missing_first_kept",
  "diverged",
  "state_mismatch",
  "invalid_record",
  "incomplete",
])

/** `SEED=…` repeats a run. */
export const seed: number = Number(process.env["SEED"] ?? Date.now() % 2 ** 31)
console.info(`SEED=${seed}`)

/** At most `count` of the values, evenly spread. */
function spread<T>(values: readonly T[], count: number): readonly T[] {
  const step = Math.max(1, values.length / count)
  return Array.from({ length: Math.min(count, values.length) }, (_, i) => values[Math.floor(i * step)] as T)
}

/** The text of the first bytes; a character that is cut becomes U+FFFD. */
function decode(bytes: Uint8Array, end: number): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, end))
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return line
  }
}

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536)
}
