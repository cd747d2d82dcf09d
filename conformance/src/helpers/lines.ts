/** Log lines for the cases to write, and checks of what a storage returns. */
import {
  type Chunk,
  type Head,
  MAX_CHUNK_BYTES,
  type ReadRange,
  type SessionStorage,
  utf8Length,
} from "@sessions/core/storage"
import { check, equal, equalLines } from "./assert.ts"

/** Lines that careless code changes, such as by parsing or trimming. Each is one line of a log and must come back unchanged. */
export const exactLines: readonly string[] = [
  '\uFEFF{"t":"byte order mark before the line"}',
  '{"t":"plain"}',
  '{"t":"line separator \u2028 and paragraph separator \u2029 are no line ends, nor is \u0085"}',
  '{"t":"carriage return behind the line"}\r',
  '\r{"t":"and before it"}',
  '{"t":"\uFEFF inside"}',
  '{"t":"👩‍👩‍👧 \u{10FFFF} \uFFFD \uFFFF \u007F"}',
  '{"t":"é is not e\u0301"}',
  '{"t":"\\u0000 \\ud800 escaped"}',
  '{"t":"\0 as it is, which ends a text in some stores"}',
  '{"__proto__":{"a":1},"constructor":null,"toString":0}',
  '{"n":1e400,"m":-0,"o":12345678901234567890,"p":0.10,"q":1E+2}',
  '{"twice":1,"twice":2}',
  ' {"spaces" : true,\t"b":1} \t',
  "null",
  '""',
  "[]",
]

export function line(n: number | string): string {
  return JSON.stringify({ n })
}

export function linesTo(count: number, from = 0): string[] {
  return Array.from({ length: count }, (_, index) => line(from + index))
}

/** Lines of about 1 KB each, at least `bytes` in all. */
export function bigLines(bytes: number): string[] {
  return Array.from({ length: Math.ceil(bytes / 1_000) }, (_, n) => JSON.stringify({ n, pad: "é".repeat(490) }))
}

export function create(storage: SessionStorage, session: string, lines: readonly string[] = linesTo(2)): Promise<Head> {
  return storage.append(session, lines, { expect: 0 })
}

export async function collect<T>(iterable: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const one of iterable) all.push(one)
  return all
}

/** Reads the lines of a range, and checks every chunk with {@link checkChunk}. */
export async function readLines(storage: SessionStorage, session: string, range?: ReadRange): Promise<string[]> {
  const { lines } = await readFrom(storage, session, range)
  return lines
}

/** {@link readLines}, with the seq of the first line. */
export async function readFrom(
  storage: SessionStorage,
  session: string,
  range?: ReadRange,
): Promise<{ readonly from?: number; readonly lines: string[] }> {
  const lines: string[] = []
  let first: number | undefined
  for await (const chunk of storage.read(session, range)) {
    first ??= chunk.from
    checkChunk(chunk, first + lines.length)
    for (const one of chunk.lines) lines.push(one)
  }
  return { ...(first !== undefined && { from: first }), lines }
}

export function checkChunk(chunk: Chunk, next: number): void {
  equal(chunk.from, next, "the seq that a chunk starts with")
  check(chunk.lines.length > 0, "the number of lines in a chunk", "at least one", 0)
  if (chunk.lines.length === 1) return
  const bytes = chunk.lines.reduce((sum, one) => sum + utf8Length(one), 0)
  check(bytes <= MAX_CHUNK_BYTES, "the bytes of a chunk of several lines", `at most ${MAX_CHUNK_BYTES}`, bytes)
}

/** Checks that the session has exactly these lines, and that its head has the right `next`. */
export async function expectLog(
  storage: SessionStorage,
  session: string,
  lines: readonly string[],
  when: string,
): Promise<void> {
  equalLines(await readLines(storage, session), lines, `the log ${when}`)
  const head = await storage.head(session)
  equal(head?.next, lines.length, `head().next ${when}`)
}

/** Checks that neither `head`, `read` nor `list` returns the session. */
export async function expectGone(storage: SessionStorage, session: string, when: string): Promise<void> {
  equal(await storage.head(session), undefined, `head() ${when}`)
  equalLines(await readLines(storage, session), [], `the lines ${when}`)
  const ids = (await collect(storage.list())).map(({ id }) => id)
  check(!ids.includes(session), `list() ${when}`, `no ${session}`, ids)
}

/** Reads a log of 10 lines, from two appends: each range has the lines from the first seq up to the second. */
export async function expectRanges(
  storage: SessionStorage,
  ranges: readonly (readonly [ReadRange, number, number])[],
): Promise<void> {
  const lines = linesTo(10)
  const head = await create(storage, "a", lines.slice(0, 4))
  await storage.append("a", lines.slice(4), { expect: head })
  for (const [range, from, to] of ranges) {
    const expected = from === to ? { lines: [] } : { from, lines: lines.slice(from, to) }
    equal(await readFrom(storage, "a", range), expected, `read() of 10 lines with ${JSON.stringify(range)}`)
  }
}
