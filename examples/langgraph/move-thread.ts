/** Moves a thread from one checkpointer to another, with all of its checkpoints and writes. Moving it again changes nothing. */
import type { BaseCheckpointSaver, CheckpointTuple } from "@langchain/langgraph-checkpoint"

export async function moveThread(from: BaseCheckpointSaver, to: BaseCheckpointSaver, thread: string): Promise<number> {
  const tuples: CheckpointTuple[] = []
  for await (const tuple of from.list({ configurable: { thread_id: thread } })) tuples.push(tuple)
  // Parents first, so that a checkpoint stores only its changes.
  for (const { config, parentConfig, checkpoint, metadata, pendingWrites = [] } of tuples.reverse()) {
    const parent = parentConfig ?? { configurable: { ...config.configurable, checkpoint_id: undefined } }
    const known = metadata ?? { source: "update", step: -1, parents: {} }
    const put = await to.put(parent, checkpoint, known, checkpoint.channel_versions)
    for (const task of new Set(pendingWrites.map(([id]) => id))) {
      const writes = pendingWrites.filter(([id]) => id === task)
      await to.putWrites(
        put,
        writes.map(([, channel, value]) => [channel, value]),
        task,
      )
    }
  }
  return tuples.length
}
