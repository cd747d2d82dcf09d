/** Reads a log past lines that cannot be read, such as those that are not UTF-8, so that `verify` also checks the lines after them. */
import { hasCode } from "../../format/errors.ts"
import type { Report } from "../../format/diagnostics.ts"
import type { CallOptions, Chunk, Seq, SessionStorage } from "../../storage/contract.ts"

/** Up to here each line after a damaged one is tried; then the distance doubles, so that a missing part costs few reads. */
const TRIED_SINGLY = 64

/** No log has so many lines: with 200 MB (`maxSessionBytes`) they would have 20 bytes each. What a wrong number puts behind is left out. */
const LARGEST_GAP = 10_000_000

/**
 * The lines before `to`. Lines that the storage calls `corrupt` are reported and left out. An empty chunk comes after them. Of more
 * than {@link TRIED_SINGLY} damaged lines in a row some later ones may be readable, and are left out too; of more than
 * {@link LARGEST_GAP}, all later ones are.
 */
export async function* readPastDamage(
  storage: SessionStorage,
  id: string,
  to: Seq,
  report: Report,
  o: CallOptions = {},
): AsyncGenerator<Chunk, void, undefined> {
  let next = 0
  /** Lines of the next read. Halved by a read that fails, until it is the damaged line alone. */
  let size = to
  while (next < to) {
    const end = Math.min(to, next + size)
    try {
      for await (const chunk of storage.read(id, { from: next, to: end }, o)) {
        yield chunk
        next = chunk.from + chunk.lines.length
      }
      // The log has become shorter.
      if (next < end) return
      size = Math.min(2 * size, to)
    } catch (error) {
      if (!hasCode(error, "corrupt")) throw error
      const left = end - next
      if (left > 1) {
        size = Math.floor(left / 2)
        continue
      }
      const from = next
      next = await afterDamage(storage, id, from, to, o)
      if (next - from > LARGEST_GAP) next = to
      size = 1
      const lines = next === from + 1 ? `Line ${from} was` : `Lines ${from} to ${next - 1} were`
      report({ code: "unparsable_line", seq: from, message: `${lines} skipped. ${error.message}` })
      yield { from: next, lines: [] }
    }
  }
}

/** The first readable line that is found after a damaged one, or `to`. */
async function afterDamage(storage: SessionStorage, id: string, damaged: Seq, to: Seq, o: CallOptions): Promise<Seq> {
  let bad = damaged
  let good = to
  for (let step = 1, at = damaged + 1; at < to; at += step) {
    if (await isReadable(storage, id, at, o)) {
      good = at
      break
    }
    bad = at
    if (at - damaged >= TRIED_SINGLY) step *= 2
  }
  while (good - bad > 1) {
    // A damaged head may count more lines than fit into 32 bits.
    const middle = Math.floor((bad + good) / 2)
    if (await isReadable(storage, id, middle, o)) good = middle
    else bad = middle
  }
  return good
}

async function isReadable(storage: SessionStorage, id: string, seq: Seq, o: CallOptions): Promise<boolean> {
  try {
    for await (const { lines } of storage.read(id, { from: seq, to: seq + 1 }, o)) if (lines.length > 0) return true
    return false
  } catch (error) {
    if (hasCode(error, "corrupt")) return false
    throw error
  }
}
