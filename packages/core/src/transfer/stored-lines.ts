/** What of a log is in its storage already, from a call that was cut off. */
import { SessionError } from "../format/errors.ts"
import { parseLine } from "../format/line.ts"
import type { CallOptions, HeadInfo, SessionStorage } from "../storage/contract.ts"
import type { PlacedLine } from "./placed-lines.ts"

/**
 * Goes past the lines that are stored, comparing them; gives the last. `exists` where they are not the beginning of these lines,
 * or are all of them already and that is no success.
 */
export async function passStored(
  storage: SessionStorage,
  id: string,
  stored: HeadInfo,
  ours: AsyncIterator<PlacedLine>,
  count: number,
  o: CallOptions & { readonly update?: boolean; readonly anyTime?: boolean },
): Promise<PlacedLine | undefined> {
  if (stored.next > count || (stored.next === count && o.update !== true)) throw taken(storage, id)
  const signal = o.signal === undefined ? {} : { signal: o.signal }
  let last: PlacedLine | undefined
  for await (const chunk of storage.read(id, { from: 0, to: stored.next }, signal)) {
    for (const line of chunk.lines) {
      const next = await ours.next()
      if (next.done === true) throw taken(storage, id)
      last = next.value
      const same = last.line === line || (last.seq === 0 && isSameHeader(last.line, line, o.anyTime === true))
      if (!same) throw taken(storage, id)
    }
  }
  return last
}

/** Apart from its origin, which says how many lines there were to be, and which a log that has grown says otherwise. */
function isSameHeader(ours: string, stored: string, anyTime: boolean): boolean {
  const comparable = (line: string): string => {
    const { origin: _, timestamp, ...rest } = parseLine(line).record ?? { type: "" }
    return JSON.stringify(anyTime ? rest : { ...rest, timestamp })
  }
  return comparable(ours) === comparable(stored)
}

function taken(storage: SessionStorage, id: string): SessionError {
  const message = `There is another session ${id} in ${storage.description} already; it was left as it is. Choose another id.`
  return new SessionError("exists", message, { session: id, storage: storage.description })
}
