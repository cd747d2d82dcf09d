/** Lines as the bytes of rows: appends become rows, rows become lines. Pure. */
import { fromUtf8, MAX_CHUNK_BYTES, StorageError, toUtf8, utf8Length } from "@sessions/core/storage"

/** Consecutive lines, each with its LF. */
export interface Row {
  readonly lines: number
  readonly body: Uint8Array
}

const LF = 10

/** One row if the lines have at most 256 KB; otherwise several of at most that, or of one longer line. A reader loads whole rows. */
export function toRows(lines: readonly string[]): Row[] {
  const body = toUtf8([...lines, ""].join("\n"))
  if (lines.length === 1 || body.length <= MAX_CHUNK_BYTES) return [{ lines: lines.length, body }]
  const rows: Row[] = []
  let [count, from, to] = [0, 0, 0]
  for (const line of lines) {
    const end = to + utf8Length(line) + 1
    if (end - from > MAX_CHUNK_BYTES && count > 0) {
      rows.push({ lines: count, body: body.subarray(from, to) })
      ;[count, from] = [0, to]
    }
    count++
    to = end
  }
  return [...rows, { lines: count, body: body.subarray(from, to) }]
}

/**
 * The lines of a row. One that is not UTF-8 is its error, so that the others can be read. Throws `corrupt` if the row does not have
 * `count` lines. `at` names the row.
 */
export function toLines(body: Uint8Array, count: number, at: string): (string | StorageError)[] {
  const lines = decode(body, at)
  if (lines.length === count && body.at(-1) === LF) return lines
  const message = `The ${at} has ${lines.length} lines, not ${count}. It is left unchanged: restore it from a backup, or delete the session.`
  throw new StorageError("corrupt", message, { at })
}

function decode(body: Uint8Array, at: string): (string | StorageError)[] {
  try {
    return fromUtf8(body, at).slice(0, -1).split("\n")
  } catch {
    const lines: (string | StorageError)[] = []
    for (let from = 0; from < body.length; ) {
      const end = body.indexOf(LF, from)
      lines.push(toLine(body.subarray(from, end === -1 ? body.length : end), at))
      from = end === -1 ? body.length : end + 1
    }
    return lines
  }
}

function toLine(bytes: Uint8Array, at: string): string | StorageError {
  try {
    return fromUtf8(bytes, at)
  } catch (error) {
    return error as StorageError
  }
}
