/** Forks a session: writes the path to one of its entries as a new session. */
import { SessionError } from "../../format/errors.ts"
import type { BlobLimits } from "../../format/blobs.ts"
import { withFields, withSeq } from "../../format/json-edit.ts"
import { encodeHeader } from "../../format/line.ts"
import { FORMAT, VERSION } from "../../format/header.ts"
import type { CallOptions, SessionStorage } from "../../storage/contract.ts"
import type { ReadableSession } from "../../session/live-types.ts"
import type { Session } from "../../session/types.ts"
import { signalOf } from "../../storage/signals.ts"
import { type ForkedEntry, planFork } from "./fork-plan.ts"
import { toStoredForm } from "../write/stored-form.ts"
import { type WholeEntry, type WholeLog, wholeLogOf } from "../read-log.ts"
import type { LineToWrite } from "../write/log-to-write.ts"
import { writeLog } from "../write/write-log.ts"

export interface ForkSettings {
  readonly maxSessionBytes: number
  readonly blobs: BlobLimits
  readonly now: () => number
  readonly newId: () => string
}

/**
 * Writes the fork into the storage of its source, sharing the blobs. Its context equals the context of the source at `at`
 * (default: the leaf). A log of an older version is forked as its migration. Errors: `not_found` if there is no such entry,
 * `exists` if the id is taken, `newer_version` for a log of a later version.
 */
export async function writeFork(
  live: ReadableSession,
  session: Session,
  forkId: string,
  options: ForkSettings,
  o: CallOptions & { readonly at?: string } = {},
): Promise<void> {
  const { otherVersion, storage, id } = live
  if (otherVersion?.refusal?.code === "newer_version") throw otherVersion.refusal
  const at = o.at ?? session.leafId
  await live.drain()
  const source = live.state.head
  const whole = await wholeLogOf(live, o)
  const leaf = at === null ? null : whole.log.find(at)
  if (leaf === undefined) {
    const message = `There is no entry ${JSON.stringify(at)} in session ${id}, so it cannot be forked there.`
    throw new SessionError("not_found", message, { session: id, storage: storage.description })
  }
  const plan = planFork(whole.log, leaf)
  // The other fields of the source's header are kept: among them is the initial state, which the forked compactions depend on.
  const { parentSession: _, origin: __, ...kept } = whole.header
  const header = {
    ...kept,
    id: forkId,
    timestamp: new Date(options.now()).toISOString(),
    creation: options.newId(),
    parentSession: { id, ...(at === null ? {} : { entryId: at }) },
  }
  const origin = { format: FORMAT, version: VERSION, id }
  await writeLog(
    storage,
    {
      id: forkId,
      header: (lines) => encodeHeader({ ...header, origin: { ...origin, ...(lines === undefined ? {} : { lines }) } }),
      lines: () => forkedLines(storage, whole, plan, options.blobs),
    },
    {
      maxSessionBytes: options.maxSessionBytes,
      anyCreation: true,
      now: options.now,
      ...signalOf(o),
    },
  )
  if (source !== undefined) await keepIfSourceIsThere(storage, id, source.log, forkId, signalOf(o))
}

/**
 * The blobs are not put again, so until the fork is stored only its source shows a collector that they are in use. If the source was
 * deleted before, the fork may lack some of them, and is removed.
 */
async function keepIfSourceIsThere(
  storage: SessionStorage,
  id: string,
  log: string,
  forkId: string,
  o: CallOptions,
): Promise<void> {
  let isThere = false
  try {
    isThere = (await storage.head(id, o))?.log === log
  } finally {
    if (!isThere) await storage.delete(forkId)
  }
  if (isThere) return
  const message = `Session ${id} was deleted or replaced while it was forked; the fork was removed.`
  throw new SessionError("conflict", message, { session: id, storage: storage.description })
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

/** Keeps a stored line, except for its position and its references. Most lines need no parsing for that. */
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
