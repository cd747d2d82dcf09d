/** Checkpoints as LangGraph gets them, from the records of a log. */
import {
  type BaseCheckpointSaver,
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  compareWritesSortKeys,
  maxChannelVersion,
  TASKS,
  writesSortKey,
} from "@langchain/langgraph-checkpoint"
import type { FoundWrites, Stored, WritesRecord } from "./records.ts"
import { type LogLines } from "./log-lines.ts"
import { Scan, type Scanned } from "./scan.ts"
import { readValues, type ChannelValues, type StateCache } from "./state.ts"
import { load } from "./values.ts"

export interface Read {
  readonly tuple: CheckpointTuple
  readonly values: ChannelValues
  /** The versions as they are stored. */
  readonly versions: Checkpoint["channel_versions"]
}

export async function readTuple(
  saver: BaseCheckpointSaver,
  thread: string,
  lines: LogLines,
  { checkpoint: { seq, entry, data }, writes }: Scanned,
  cache: StateCache,
): Promise<Read> {
  const { serde } = saver
  const { ns, id, parent } = data
  const whole = (await lines.whole(entry))["data"] as { checkpoint: Stored; metadata: Stored }
  const values = await readValues(lines, seq, cache)
  const stored = (await load(serde, whole.checkpoint)) as Omit<Checkpoint, "channel_values">
  const loaded = await Promise.all([...values].map(async ([name, value]) => [name, await load(serde, value)] as const))
  const versions = { ...stored.channel_versions }
  const checkpoint: Checkpoint = { ...stored, channel_values: Object.fromEntries(loaded) }
  if (checkpoint.v < 4 && parent !== undefined) {
    // Before version 4 the sends of a step were no channel.
    const before = await new Scan(lines).find(ns, parent)
    const sends = before === undefined ? [] : await pendingWrites(saver, lines, before.writes)
    checkpoint.channel_values[TASKS] = sends.filter(([, channel]) => channel === TASKS).map(([, , value]) => value)
    const known = Object.values(checkpoint.channel_versions)
    checkpoint.channel_versions[TASKS] =
      known.length > 0 ? maxChannelVersion(...known) : saver.getNextVersion(undefined)
  }
  const configOf = (checkpoint_id: string): CheckpointTuple["config"] => ({
    configurable: { thread_id: thread, checkpoint_ns: ns, checkpoint_id },
  })
  const tuple: CheckpointTuple = {
    config: configOf(id),
    checkpoint,
    metadata: (await load(serde, whole.metadata)) as CheckpointMetadata,
    pendingWrites: await pendingWrites(saver, lines, writes),
    ...(parent !== undefined && { parentConfig: configOf(parent) }),
  }
  return { tuple, values, versions }
}

/**
 * In LangGraph's order: by the path of the task, its id, and the number of the write. Of several writes with one number the first counts,
 * and the last of those with a negative one, which report the state of the task.
 */
export async function pendingWrites(
  { serde }: BaseCheckpointSaver,
  lines: LogLines,
  records: readonly FoundWrites[],
): Promise<CheckpointPendingWrite[]> {
  const byKey = new Map<string, { path: string; task: string; idx: number; channel: string; value: Stored }>()
  for (const { entry } of records) {
    const { task, path, writes } = (await lines.whole(entry))["data"] as WritesRecord
    for (const [channel, idx, value] of writes) {
      const key = JSON.stringify([task, idx])
      if (idx < 0 || !byKey.has(key)) byKey.set(key, { path, task, idx, channel, value })
    }
  }
  const sorted = [...byKey.values()].sort((a, b) =>
    compareWritesSortKeys(writesSortKey(a.path, a.task, a.idx), writesSortKey(b.path, b.task, b.idx)),
  )
  return Promise.all(
    sorted.map(
      async ({ task, channel, value }): Promise<CheckpointPendingWrite> => [task, channel, await load(serde, value)],
    ),
  )
}
