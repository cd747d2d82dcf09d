/** Makes a session: its header is the first line of its log. */
import { SessionError } from "../format/errors.ts"
import { encodeHeader } from "../format/line.ts"
import type { Header } from "../format/records.ts"
import { utf8Length } from "../storage/checks.ts"
import type { CallOptions, Head, SessionStorage } from "../storage/contract.ts"
import { hasCode } from "../storage/errors.ts"
import { backoff } from "../storage/clock.ts"
import { infoText } from "../info/store.ts"
import { startProjection } from "../info/projection.ts"
import { readLines } from "../log/loaded-log.ts"
import { newSession } from "./open.ts"
import type { OpeningOptions } from "./open.ts"
import { taken } from "../write/errors.ts"
import { TRIES } from "../storage/retry.ts"
import type { LiveSession } from "./live-session.ts"

/** `exists` where the id is taken; `too_large` for a header that no line holds. */
export async function createSession(
  storage: SessionStorage,
  header: Header,
  options: OpeningOptions,
  o: CallOptions,
): Promise<LiveSession> {
  const { id } = header
  const line = encodeHeader(header)
  const { maxLineBytes } = storage.capabilities
  if (utf8Length(line) > maxLineBytes) {
    const message = `The header of ${id} is longer than the ${maxLineBytes} bytes that a line of this storage may have. Nothing was written.`
    throw new SessionError("too_large", message, { session: id, storage: storage.description })
  }
  const signal = o.signal === undefined ? {} : { signal: o.signal }
  // What the line says, not the caller's objects: one that waits to be written must not change until then.
  const kept = JSON.parse(line) as Header
  if (options.persistAfter === "create") {
    return newSession(storage, kept, await writeHeader(storage, kept, line, signal), options)
  }
  if ((await storage.head(id, signal)) !== undefined) throw taken({ id, storage })
  return newSession(storage, kept, undefined, options)
}

async function writeHeader(storage: SessionStorage, header: Header, line: string, o: CallOptions): Promise<Head> {
  const { id } = header
  const text = infoText(startProjection(header, ""))
  let doubt = false
  for (let attempt = 1; ; attempt++) {
    try {
      return await storage.append(id, [line], { ...o, expect: 0, ...(text === undefined ? {} : { info: text }) })
    } catch (error) {
      doubt ||= hasCode(error, "indeterminate")
      // Where a try may have arrived, the log that stands in the way may be its own.
      const own = doubt ? await ownHead(storage, id, line, o) : undefined
      if (own !== undefined) return own
      if (hasCode(error, "conflict")) throw taken({ id, storage })
      const again = hasCode(error, "unavailable") || hasCode(error, "indeterminate")
      if (!again || attempt === TRIES) throw error
    }
    await backoff(attempt)
  }
}

async function ownHead(storage: SessionStorage, id: string, line: string, o: CallOptions): Promise<Head | undefined> {
  try {
    const head = await storage.head(id, o)
    const [first] = head === undefined ? [] : await readLines(storage, id, { from: 0, to: 1 }, o)
    return head === undefined || first !== line ? undefined : { next: 1, log: head.log }
  } catch (error) {
    if (hasCode(error, "unavailable")) return undefined
    throw error
  }
}
