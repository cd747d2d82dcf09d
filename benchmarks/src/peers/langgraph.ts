/**
 * LangGraph's checkpoint savers. Each step of a graph puts a checkpoint, in which the channel `messages` has all messages of the thread.
 * Here a step adds one message, a plain object, which costs less than a message class of LangChain.
 */
import type { Message } from "@sessions/core"
import { importPeer } from "./install.ts"
import type { Peer } from "./peer.ts"

interface Config {
  readonly configurable: { readonly thread_id: string; readonly checkpoint_ns: string; readonly checkpoint_id?: string }
}

interface Saver {
  setup?(): Promise<void>
  put(config: Config, checkpoint: object, metadata: object, versions: object): Promise<Config>
  getTuple(
    config: Config,
  ): Promise<
    { readonly checkpoint: { readonly channel_values: { readonly messages: readonly unknown[] } } } | undefined
  >
}

interface Checkpoints {
  readonly emptyCheckpoint: () => object
  readonly uuid6: (step: number) => string
}

const THREAD: Config = { configurable: { thread_id: "s", checkpoint_ns: "" } }

/** In a file with WAL and `synchronous = NORMAL`, its defaults. */
export const langgraphOnSqlite: Peer = langgraph("LangGraph's SqliteSaver", async (folder) => {
  const { SqliteSaver } = await importPeer<{ SqliteSaver: { fromConnString(path: string): Saver } }>(
    "@langchain/langgraph-checkpoint-sqlite",
  )
  return SqliteSaver.fromConnString(`${folder}.db`)
})

/** On a pool, in a schema of its own. */
export function langgraphOnPostgres(pool: object): Peer {
  let schemas = 0
  return langgraph("LangGraph's PostgresSaver", async () => {
    const { PostgresSaver } = await importPeer<{
      PostgresSaver: new (pool: object, serde: undefined, options: { readonly schema: string }) => Saver
    }>("@langchain/langgraph-checkpoint-postgres")
    return new PostgresSaver(pool, undefined, { schema: `langgraph_${schemas++}` })
  })
}

function langgraph(name: string, saverIn: (folder: string) => Promise<Saver>): Peer {
  const threadIn = async (
    folder: string,
  ): Promise<{ saver: Saver; put: (all: readonly Message[]) => Promise<void> }> => {
    const { emptyCheckpoint, uuid6 } = await importPeer<Checkpoints>("@langchain/langgraph-checkpoint")
    const saver = await saverIn(folder)
    await saver.setup?.()
    let last = THREAD
    const put = async (messages: readonly Message[]): Promise<void> => {
      const versions = { messages: messages.length }
      const checkpoint = {
        ...emptyCheckpoint(),
        id: uuid6(messages.length),
        channel_values: { messages },
        channel_versions: versions,
      }
      last = await saver.put(last, checkpoint, { source: "loop", step: messages.length, parents: {} }, versions)
    }
    return { saver, put }
  }
  return {
    name,
    kind: "files",
    async open(folder, conversation) {
      const { saver, put } = await threadIn(folder)
      await put(conversation.messages())
      return async () => ({
        messages: (await saver.getTuple(THREAD))?.checkpoint.channel_values.messages.length ?? 0,
      })
    },
    async append(folder) {
      const { put } = await threadIn(folder)
      const all: Message[] = []
      return (message) => {
        all.push(message)
        return put(all)
      }
    },
  }
}
