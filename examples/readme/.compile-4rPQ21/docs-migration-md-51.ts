import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { SessionsSaver } from "@sessions/langgraph"
import { type BaseCheckpointSaver, type CheckpointTuple, emptyCheckpoint, MemorySaver } from "@langchain/langgraph-checkpoint"

/** Copies all threads of a saver. A repeated call changes nothing. */
async function copyThreads(from: BaseCheckpointSaver, to: BaseCheckpointSaver): Promise<void> {
  const tuples: CheckpointTuple[] = []
  for await (const tuple of from.list({})) tuples.push(tuple)
  for (const { config, parentConfig, checkpoint, metadata, pendingWrites } of tuples.reverse()) {
    const { thread_id, checkpoint_ns = "" } = config.configurable ?? {}
    const parent = parentConfig?.configurable?.["checkpoint_id"]
    const at = { configurable: { thread_id, checkpoint_ns, ...(parent && { checkpoint_id: parent }) } }
    const put = await to.put(at, checkpoint, metadata ?? { source: "update", step: 0, parents: {} }, checkpoint.channel_versions)
    for (const task of new Set((pendingWrites ?? []).map(([id]) => id))) {
      const writes = (pendingWrites ?? []).filter(([id]) => id === task)
      await to.putWrites(put, writes.map(([, channel, value]): [string, unknown] => [channel, value]), task)
    }
  }
}

const old = new MemorySaver() // yours: SqliteSaver, PostgresSaver
const metadata = { source: "input", step: -1, parents: {} } as const
await old.put({ configurable: { thread_id: "t1", checkpoint_ns: "" } }, emptyCheckpoint(), metadata)

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const checkpointer = new SessionsSaver({ sessions, keep: 100 })
await copyThreads(old, checkpointer)
const found = await checkpointer.getTuple({ configurable: { thread_id: "t1" } })
console.log(found !== undefined) // true
await sessions.close()
export {}
