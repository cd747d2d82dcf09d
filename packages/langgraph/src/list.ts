/** `list`: the checkpoints of one thread or of all, newest first, each read when it is asked for. */
import type { BaseCheckpointSaver, CheckpointTuple } from "@langchain/langgraph-checkpoint"
import { hasCode, type Sessions } from "@sessions/core"
import type { Seq } from "@sessions/core/storage"
import { BoundedStates } from "./bounded-states.ts"
import { LogLines } from "./log-lines.ts"
import type { CheckpointRecord } from "./records.ts"
import { Scan } from "./scan.ts"
import type { ChannelValues } from "./state.ts"
import { ID_PREFIX, KIND, sessionOf } from "./thread-id.ts"
import { readTuple } from "./tuple.ts"
import { load } from "./values.ts"

/** How often the listing of a thread goes on in a log that has replaced the one it began with. */
const ATTEMPTS = 5

export interface ListQuery {
  readonly ns: string | undefined
  readonly id: string | undefined
  /** Only lesser ids. */
  readonly before: string | undefined
  /** Only checkpoints whose metadata has these values. */
  readonly filter: Readonly<Record<string, unknown>> | undefined
}

export async function* listTuples(
  saver: BaseCheckpointSaver,
  sessions: Sessions,
  thread: string | undefined,
  query: ListQuery,
  limit: number = Number.POSITIVE_INFINITY,
): AsyncGenerator<CheckpointTuple, void, undefined> {
  let left = limit
  if (left <= 0) return
  for await (const [id, name] of thread === undefined
    ? threads(sessions)
    : [[await sessionOf(thread), thread] as const]) {
    for await (const tuple of tuplesOf(saver, sessions, id, name, query)) {
      yield tuple
      if (--left <= 0) return
    }
  }
}

async function* threads(sessions: Sessions): AsyncGenerator<readonly [id: string, thread: string], void, undefined> {
  let cursor: string | undefined
  do {
    const page = await sessions.list({
      kind: KIND,
      idPrefix: ID_PREFIX,
      limit: 200,
      ...(cursor !== undefined && { cursor }),
    })
    for (const { id, metadata } of page.sessions) {
      const thread = (metadata as { thread_id?: unknown } | undefined)?.thread_id
      // A copy of a thread under another id, as `fork` makes it, is not that thread.
      if (typeof thread === "string" && (await sessionOf(thread)) === id) yield [id, thread]
    }
    cursor = page.next
  } while (cursor !== undefined)
}

async function* tuplesOf(
  saver: BaseCheckpointSaver,
  { storage }: Sessions,
  session: string,
  thread: string,
  { ns, id, before, filter = {} }: ListQuery,
): AsyncGenerator<CheckpointTuple, void, undefined> {
  let last: CheckpointRecord | undefined
  const matches = (data: CheckpointRecord): boolean =>
    (ns === undefined || data.ns === ns) &&
    (id === undefined || data.id === id) &&
    (before === undefined || data.id < before) &&
    (last === undefined || data.id < last.id || (data.id === last.id && data.ns > last.ns))
  for (let attempt = 1; ; attempt++) {
    const head = await storage.head(session)
    if (head === undefined) return
    const lines = new LogLines(storage, session, { next: head.next, log: head.log })
    const cache = new BoundedStates<Seq, ChannelValues>((values) => values)
    try {
      for await (const scanned of new Scan(lines).newestFirst(matches)) {
        const { data } = scanned.checkpoint
        const whole = (await lines.whole(scanned.checkpoint.entry))["data"] as CheckpointRecord
        const metadata = await load(saver.serde, whole.metadata)
        if (hasValues(metadata, filter)) yield (await readTuple(saver, thread, lines, scanned, cache)).tuple
        last = data
      }
      return
    } catch (error) {
      if (!hasCode(error, "conflict") || attempt === ATTEMPTS) throw error
    }
  }
}

function hasValues(metadata: unknown, filter: Readonly<Record<string, unknown>>): boolean {
  const fields = metadata as Readonly<Record<string, unknown>>
  return Object.entries(filter).every(
    ([key, value]) => fields[key] === value || JSON.stringify(fields[key]) === JSON.stringify(value),
  )
}
