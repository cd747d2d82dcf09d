/**
 * The laws of a format, as tests over its golden files. A format's test file calls {@link testLaws} with its files; files with special
 * contents get tests of their own.
 */
import { type Entry, SessionError, type Session, type Sessions, createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import type { Format, WriteOptions } from "../src/base/format.ts"
import { importFile } from "../src/import-file.ts"

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
  const result = await importFile(sessions, () => piecesOf(new TextEncoder().encode(golden.text)), {
    from: format,
    beside,
  })
  const session = await sessions.open(result.id)
  await session.refresh()
  const entries: Entry[] = []
  for await (const entry of session.entries()) entries.push(entry)
  return { sessions, session, entries, diagnostics: result.diagnostics, added: result.added }
}

/** The written file as one text. */
export async function written(format: Format, session: Session, o: WriteOptions = {}): Promise<string> {
  if (format.write === undefined) throw new Error(`${format.format} has no writer.`)
  let text = ""
  for await (const piece of format.write({ header: session.header, entries: () => session.entries() }, o)) text += piece
  return text
}

/** The records of a file in order. A line that is no JSON is a text. */
export function recordsOf(text: string): readonly unknown[] {
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

/** Tests every law on every golden file. */
export function testLaws(format: Format, goldens: Readonly<Record<string, Golden>>): void {
  const files = Object.entries(goldens)

  test.each(files)("%s is identified, and imported as an undamaged session", async (_, golden) => {
    expect(format.identify(golden.text)).toBe(true)
    const { sessions, session } = await importText(format, golden)
    const { diagnostics } = await sessions.verify(session.id)
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
      for await (const record of format.read({ main, beside }, { note: () => undefined })) found.push(record)
      return found
    }
    expect(await records(7)).toEqual(await records(Number.POSITIVE_INFINITY))
  })

  test.each(files)("%s cut at every line and at random bytes gives a session or a SessionError", async (_, golden) => {
    const bytes = new TextEncoder().encode(golden.text)
    const ends = [...bytes.keys()].filter((at) => bytes[at] === 10)
    const cuts = fc.sample(fc.nat(bytes.length), { numRuns: 20, seed })
    for (const cut of [...spread(ends, 40), ...cuts]) {
      const text = decode(bytes, cut)
      expect(await exportOf(format, { ...golden, text }), `cut at byte ${cut}`).toEqual(recordsOf(text))
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

/** The records that the import of a file is exported as; those of the file for a refusal with a code, and for a format without a writer. */
async function exportOf(format: Format, golden: Golden): Promise<readonly unknown[]> {
  try {
    const { session } = await importText(format, golden)
    return recordsOf(format.write === undefined ? golden.text : await written(format, session))
  } catch (error) {
    if (error instanceof SessionError) return recordsOf(golden.text)
    throw error
  }
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
const seed = Number(process.env["SEED"] ?? Date.now() % 2 ** 31)
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
