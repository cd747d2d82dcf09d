/**
 * `getDeltaChannelHistory`: the writes from which LangGraph computes a `DeltaChannel`, from the ancestors of a checkpoint up to the nearest
 * one that has a value of the channel. One pass over the log, however many ancestors there are.
 */
import type { BaseCheckpointSaver, CheckpointPendingWrite } from "@langchain/langgraph-checkpoint"
import { BoundedStates } from "./bounded-states.ts"
import type { LogLines } from "./log-lines.ts"
import { Scan, type Scanned } from "./scan.ts"
import { type ChannelValues, readValues } from "./state.ts"
import { pendingWrites } from "./tuple.ts"
import { load } from "./values.ts"

export type DeltaHistories = Awaited<ReturnType<BaseCheckpointSaver["getDeltaChannelHistory"]>>

/** Without an `id`: of the latest checkpoint of the namespace. */
export async function readDeltaHistories(
  saver: BaseCheckpointSaver,
  lines: LogLines,
  ns: string,
  id: string,
  channels: readonly string[],
): Promise<DeltaHistories> {
  /** Newest first. */
  const writes = new Map<string, CheckpointPendingWrite[]>(channels.map((channel) => [channel, []]))
  const seeds = new Map<string, unknown>()
  const open = new Set(channels)
  const cache = new BoundedStates<number, ChannelValues>((values) => values)
  const scan = new Scan(lines)
  const target = await (id === "" ? scan.latest(ns) : scan.find(ns, id))
  // A damaged log may have a checkpoint among its own ancestors.
  const seen = new Set<string>()
  for (let at = target?.checkpoint.data.parent; at !== undefined && open.size > 0 && !seen.has(at); ) {
    seen.add(at)
    const found: Scanned | undefined = await scan.find(ns, at)
    if (found === undefined) break
    for (const write of (await pendingWrites(saver, lines, found.writes)).reverse()) {
      if (open.has(write[1])) writes.get(write[1])?.push(write)
    }
    const values = await readValues(lines, found.checkpoint.seq, cache)
    for (const channel of open) {
      const value = values.get(channel)
      const seed = value === undefined ? undefined : await load(saver.serde, value)
      if (seed === undefined) continue
      seeds.set(channel, seed)
      open.delete(channel)
    }
    at = found.checkpoint.data.parent
  }
  return Object.fromEntries(
    channels.map((channel) => {
      const history = { writes: (writes.get(channel) ?? []).reverse() }
      return [channel, seeds.has(channel) ? { ...history, seed: seeds.get(channel) } : history]
    }),
  )
}
