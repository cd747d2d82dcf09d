/** Creates a session: writes its header and first entries as one batch, or keeps them in memory until the first write. */
import { encodeHeader } from "../format/line.ts"
import type { Header } from "../format/header.ts"
import type { NewEntry } from "../format/new-entry.ts"
import { isDeep } from "../storage/depth.ts"
import { signalOf } from "../storage/signals.ts"
import { utf8Length } from "../storage/utf8.ts"
import type { CallOptions, Head, SessionStorage } from "../storage/contract.ts"
import { headAt } from "../storage/head.ts"
import { infoText } from "../info/store.ts"
import { startProjection } from "../info/projection.ts"
import { newSession } from "./open.ts"
import type { LiveSession, LiveSessionOptions } from "./live-session.ts"
import { taken } from "../write/errors.ts"
import { tooDeep, tooLarge } from "../write/limits.ts"
import { writeLines } from "../write/writer.ts"

/**
 * Creates the session with these first entries. `exists` if the id is taken; `too_large` if the header exceeds the storage's line limit,
 * or all of it what the storage takes at once. A rejection means that there is no such session, unless it is `indeterminate` or `aborted`
 * with `sent`.
 */
export async function createSession(
  storage: SessionStorage,
  header: Header,
  first: readonly NewEntry[],
  options: LiveSessionOptions,
  o: CallOptions,
): Promise<LiveSession> {
  const { id } = header
  const line = encodeHeader(header)
  if (isDeep(header)) throw tooDeep(id, "header")
  const { maxLineBytes } = storage.capabilities
  if (utf8Length(line) > maxLineBytes) throw tooLarge(id, "header", utf8Length(line), maxLineBytes)
  const signal = signalOf(o)
  // Parsed from the line, so that later changes to the caller's objects do not change a header that is not written yet.
  const kept = JSON.parse(line) as Header
  const atOnce = options.persistAfter === "create"
  if (atOnce && first.length === 0) {
    return newSession(storage, kept, await writeHeader(storage, kept, line, signal), options)
  }
  if (!atOnce && (await storage.head(id, signal)) !== undefined) throw taken({ id, storage })
  const live = newSession(storage, kept, undefined, options)
  // The first batch of the queue has the header as its first line.
  if (first.length > 0) await live.append(first, signal)
  return live
}

async function writeHeader(storage: SessionStorage, header: Header, line: string, o: CallOptions): Promise<Head> {
  const { id } = header
  const written = await writeLines(storage, id, [line], {
    ...o,
    expect: 0,
    info: infoText(startProjection(header, "")),
  })
  if (written.kind === "committed") return written.head
  if (written.kind !== "conflict") throw written.error
  const { end, mayBeIn } = written
  // The header arrived although its answer was lost, and another writer has continued the session since.
  if (mayBeIn && end?.lines[0] === line) return headAt(1, end.head.log, line)
  throw taken({ id, storage })
}
