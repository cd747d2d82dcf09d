/** A new session with the path to an entry of another one. */
import { SessionError } from "../format/errors.ts"
import type { BlobLimits } from "../format/blob-refs.ts"
import { withFields } from "../format/json-edit.ts"
import { encodeHeader, withSeq } from "../format/line.ts"
import { FORMAT, VERSION } from "../format/records.ts"
import type { Header } from "../format/records.ts"
import type { CallOptions, SessionStorage } from "../storage/contract.ts"
import type { ReadableSession } from "../session/live.ts"
import type { Session } from "../session/types.ts"
import { writeLog } from "./batches.ts"
import type { LineToWrite } from "./log-to-write.ts"
import { planFork } from "./fork-plan.ts"
import type { ForkedEntry } from "./fork-plan.ts"
import { toStoredForm } from "./stored-form.ts"
import { wholeLogOf } from "./whole-log.ts"
import type { WholeEntry, WholeLog } from "./whole-log.ts"

export interface ForkOptions {
  readonly maxSessionBytes: number
  readonly blobs: BlobLimits
  readonly now: () => number
}

/**
 * Writes the fork in the session's own storage. Its context at its leaf is the source's at `at` (default: the leaf). `not_found`
 * for an entry that is not there; `exists` for an id that is taken; `newer_version` for a log that is not ours to understand. An
 * older log is forked as what its migration makes of it. Blobs stay shared.
 */
export async function forkSession(
  shared: ReadableSession,
  session: Session,
  forkId: string,
  options: ForkOptions,
  o: CallOptions & { readonly at?: string } = {},
): Promise<void> {
  const { writeGuard, storage, id } = shared
  if (writeGuard.kind === "refused" && writeGuard.error.code === "newer_version") throw writeGuard.error
  const at = o.at ?? session.leafId
  await shared.drain()
  const whole = await wholeLogOf(shared, o)
  const leaf = at === null ? null : whole.log.find(at)
  if (leaf === undefined) {
    const message = `There is no entry ${JSON.stringify(at)} in session ${id}, so it cannot be forked there.`
    throw new SessionError("not_found", message, { session: id, storage: storage.description })
  }
  const plan = planFork(whole.log, leaf)
  const header = forkHeader(whole.header, forkId, { id, ...(at === null ? {} : { entryId: at }) }, options.now())
  await writeLog(
    storage,
    {
      id: forkId,
      header: (lines) =>
        encodeHeader(lines === undefined ? header : { ...header, origin: { ...fromSession(id), lines } }),
      lines: () => forkedLines(storage, whole, plan, options.blobs),
    },
    {
      maxSessionBytes: options.maxSessionBytes,
      anyTime: true,
      ...(o.signal === undefined ? {} : { signal: o.signal }),
    },
  )
}

/** All of the source's header but what is the fork's own: among it where the state begins, which compactions in the log rest on. */
function forkHeader(source: Header, id: string, parentSession: { id: string; entryId?: string }, now: number): Header {
  const { parentSession: _, origin: __, ...carried } = source
  const own = { id, timestamp: new Date(now).toISOString() }
  return { ...carried, ...own, parentSession, origin: fromSession(parentSession.id) }
}

function fromSession(id: string): { format: string; version: number; id: string } {
  return { format: FORMAT, version: VERSION, id }
}

async function* forkedLines(
  storage: SessionStorage,
  whole: WholeLog,
  plan: readonly ForkedEntry[],
  limits: BlobLimits,
): AsyncGenerator<LineToWrite, void, undefined> {
  const planned = new Map(plan.map((forked) => [forked.from, forked]))
  for await (const found of whole.entries(new Set(planned.keys()))) {
    yield forkedLine(storage, found, planned.get(found.seq) as ForkedEntry, limits)
  }
}

/** A stored line stays as it was written, but for what says where it stands. Most need no parsing for it. */
function forkedLine(
  storage: SessionStorage,
  { line, entry }: WholeEntry,
  { seq, changes }: ForkedEntry,
  limits: BlobLimits,
): LineToWrite | Promise<LineToWrite> {
  if (line === undefined) return toStoredForm(storage, { ...entry(), ...changes, seq }, seq, limits)
  const moved = changes === undefined ? withSeq(line, seq) : undefined
  return { line: moved ?? withFields(line, { ...changes, seq }) }
}
