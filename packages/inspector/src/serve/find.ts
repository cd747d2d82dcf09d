/** Finds words in one session, newest line first: the stored text is searched as it is, and only a line that may match is parsed. */
import type { Entry, Session, Sessions } from "@sessions/core"
import type { CallOptions } from "@sessions/core/storage"
import { isObject } from "../model/fields.ts"
import { textOf } from "../model/text.ts"
import type { Row } from "../model/types.ts"
import { rowOf } from "../read/outline.ts"

/** The first window is small, because what people look for is often near the end. Larger ones read a long log faster. */
const FIRST_WINDOW_BYTES = 1_000_000
const LARGEST_WINDOW_BYTES = 16_000_000

export async function* findWords(
  { storage }: Sessions,
  session: Session,
  words: string,
  o: CallOptions,
): AsyncGenerator<Row> {
  const pattern = patternOf(words)
  let maxBytes = FIRST_WINDOW_BYTES
  const wanted = words.toLowerCase()
  let before = session.head.next
  while (before > 1) {
    let first = before
    const lines: string[] = []
    for await (const chunk of storage.read(session.id, { before, maxBytes }, o)) {
      if (lines.length === 0) first = chunk.from
      for (const line of chunk.lines) lines.push(line)
    }
    // A line that is longer than a window.
    if (lines.length === 0) {
      first = before - 1
      for await (const chunk of storage.read(session.id, { from: first, to: before }, o)) lines.push(...chunk.lines)
    }
    for (let index = lines.length - 1; index >= 0; index--) {
      const line = lines[index] as string
      const seq = first + index
      const isLong = line.includes("blob:sha256:")
      // A program may write a character of a text as an escape: then the line is parsed whatever it has.
      if (seq === 0 || !(isLong || pattern.test(line) || line.includes("\\u"))) continue
      const entry = await entryOf(session, line, isLong, o)
      if (entry !== undefined && textOf(entry).toLowerCase().includes(wanted))
        yield rowOf(entry, seq, { parent: -1 }, () => undefined)
    }
    before = first
    maxBytes = Math.min(maxBytes * 2, LARGEST_WINDOW_BYTES)
  }
}

async function entryOf(session: Session, line: string, isLong: boolean, o: CallOptions): Promise<Entry | undefined> {
  let record: unknown
  try {
    record = JSON.parse(line)
  } catch {
    return undefined
  }
  if (!isObject(record) || typeof record["id"] !== "string" || typeof record["type"] !== "string") return undefined
  return isLong ? await session.entry(record["id"], o) : (record as Entry)
}

/** Finds the words in the JSON text of a line. Without the flag `u`, which only letters beyond ASCII need, it is several times as fast. */
function patternOf(words: string): RegExp {
  const json = JSON.stringify(words).slice(1, -1)
  const isAscii = /^[\x20-\x7e]*$/.test(words)
  return new RegExp(json.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), isAscii ? "i" : "iu")
}
