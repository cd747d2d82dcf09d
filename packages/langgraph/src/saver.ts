/** LangGraph's checkpointer over the sessions of a storage: one session a thread. */
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  copyCheckpoint,
  getCheckpointId,
  type PendingWrite,
  type SerializerProtocol,
  WRITES_IDX_MAP,
} from "@langchain/langgraph-checkpoint"
import { hasCode, SessionError, type Sessions } from "@sessions/core"
import { checkOptions, type OptionNames } from "@sessions/core/storage"
import { Bases } from "./bases.ts"
import { type DeltaHistories, readDeltaHistories } from "./delta-history.ts"
import { listTuples, type ListQuery } from "./list.ts"
import { LogLines } from "./log-lines.ts"
import { CHECKPOINT, type Stored, WRITES } from "./records.ts"
import { Scan } from "./scan.ts"
import { changesTo } from "./state.ts"
import { sessionOf } from "./thread-id.ts"
import { cannotReplaceError, isTrimDue, trim } from "./trim.ts"
import { readTuple } from "./tuple.ts"
import { store, withinCheckpoint } from "./values.ts"
import { Writers } from "./writers.ts"

type Config = Parameters<BaseCheckpointSaver["getTuple"]>[0]

/** How often a read begins again because the log was deleted or replaced meanwhile. */
const ATTEMPTS = 5

export interface SessionsSaverOptions {
  /** The repository that stores the threads. The saver never closes it. */
  readonly sessions: Sessions
  /** How values become bytes. Default: LangGraph's `JsonPlusSerializer`. */
  readonly serde?: SerializerProtocol
  /**
   * Trims threads: the newest `keep` checkpoints of each namespace stay, a whole number from 1. A `put` trims its thread when it has twice as
   * many as the last trimming has kept, and 50 more. `invalid` if the storage cannot replace a log. Default: nothing is trimmed.
   */
  readonly keep?: number
}

const OPTIONS: OptionNames<SessionsSaverOptions> = { sessions: true, serde: true, keep: true }

/**
 * Stores each thread as a session of the kind `langgraph`.
 *
 * A call that has resolved is stored as durably as the storage says. A crash leaves each `put` and each `putWrites` whole or not at all, and
 * a repeated call changes nothing. Several processes may use one thread. Errors are those of `@sessions/core`, by their `code`; a `put` that
 * rejects with `indeterminate` may be stored, and may be repeated.
 */
export class SessionsSaver extends BaseCheckpointSaver {
  readonly #sessions: Sessions
  readonly #keep: number | undefined
  readonly #bases = new Bases()
  readonly #writers: Writers

  constructor(options: SessionsSaverOptions) {
    checkOptions("SessionsSaver", options, OPTIONS)
    const { sessions, serde, keep } = options
    super(serde)
    if (keep !== undefined) {
      if (!Number.isSafeInteger(keep) || keep < 1) {
        throw new SessionError("invalid", `"keep" must be a whole number from 1, not ${String(keep)}.`)
      }
      if (!sessions.storage.capabilities.replace) throw cannotReplaceError(sessions.storage)
    }
    this.#keep = keep
    this.#sessions = sessions
    this.#writers = new Writers(sessions)
  }

  /** The checkpoint of the config, or without a `checkpoint_id` the latest of its namespace: that with the greatest id. */
  async getTuple(config: Config): Promise<CheckpointTuple | undefined> {
    const thread = threadOf(config, "getTuple", false)
    if (thread === undefined) return undefined
    const ns = namespaceOf(config)
    const id = getCheckpointId(config)
    const session = await sessionOf(thread)
    return this.#retried(session, async (lines) => {
      const scan = new Scan(lines)
      const scanned = await (id === "" ? scan.latest(ns) : scan.find(ns, id))
      if (scanned === undefined) return undefined
      const { seq, data } = scanned.checkpoint
      const { log } = lines.head
      const known = this.#bases.get(thread, ns, data.id)
      const isKnown = known?.log === log && known.seq === seq
      const cache = { get: (at: number) => (isKnown && at === seq ? known.values : undefined), set: () => undefined }
      const { tuple, values, versions } = await readTuple(this, thread, lines, scanned, cache)
      this.#bases.set(thread, ns, { id: data.id, log, seq, chain: data.chain, values, versions })
      return tuple
    })
  }

  /**
   * The matching checkpoints, newest first: those with the greatest id. Without a `thread_id` those of all threads, one thread after the
   * other, the most recently written first; without a `checkpoint_ns` those of all namespaces. Reads the log as far as they are asked for.
   */
  async *list(config: Config, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    const thread = threadOf(config, "list", false)
    const { checkpoint_ns: ns, checkpoint_id: id } = config.configurable ?? {}
    const before = options.before?.configurable?.["checkpoint_id"] as string | undefined
    const query: ListQuery = { ns, id, before, filter: options.filter }
    yield* listTuples(this, this.#sessions, thread, query, options.limit)
  }

  /**
   * Stores a checkpoint under its id; another one with this id is replaced. Channels that are not in `newVersions` are taken from the
   * parent, the checkpoint of the config, if it has them at the same version.
   */
  async put(
    config: Config,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<Config> {
    const thread = threadOf(config, "put", true)
    const ns = namespaceOf(config)
    const parent = getCheckpointId(config) || undefined
    const { id } = checkpoint
    if (typeof id !== "string") throw new SessionError("invalid", "put needs a checkpoint with a text as its `id`.")
    const { channel_values, ...rest } = { ...checkpoint, ...copyCheckpoint(checkpoint) }
    const versions = rest.channel_versions
    const known = parent === undefined ? undefined : this.#bases.get(thread, ns, parent)
    // Serialized before anything is awaited, because the graph may go on and change its values.
    // Without a parent, other channels than those of `newVersions` have no origin; but a fork copies a checkpoint beside it.
    const isRoot = parent === undefined && metadata.source !== "fork"
    const given = Object.entries(channel_values).filter(([name]) => !isRoot || Object.hasOwn(newVersions, name))
    const storing = given.map(async ([channel, value]) => {
      const before = known?.values.get(channel)
      const isNew = Object.hasOwn(newVersions, channel) || known?.versions[channel] !== versions[channel]
      if (before !== undefined && !isNew) return [channel, before] as const
      return [channel, await store(this.serde, withinCheckpoint(this.serde, value), { channel })] as const
    })
    const [storedCheckpoint, storedMetadata, ...stored] = await Promise.all([
      store(this.serde, rest, "checkpoint"),
      store(this.serde, metadata, "metadata"),
      ...storing,
    ])
    const values = new Map<string, Stored>(stored)
    const session = await sessionOf(thread)
    let chain: readonly [number, number] = [0, 0]
    const written = await this.#writers.append(thread, session, true, async ({ log, has }) => {
      const isThere = known?.log === log && (await has(known.seq, ns, known.id))
      const changes = changesTo(isThere ? known : undefined, values)
      ;({ chain } = changes)
      const data = {
        ns,
        id,
        ...(parent !== undefined && { parent }),
        checkpoint: storedCheckpoint,
        metadata: storedMetadata,
        ...changes,
      }
      return { type: CHECKPOINT, data }
    })
    this.#bases.set(thread, ns, { id, log: written.log, seq: written.seq, chain, values, versions })
    const keep = this.#keep
    if (keep !== undefined && isTrimDue(written.count, keep)) {
      await this.#writers.alone(thread, session, () => trim(this.#sessions.storage, this.serde, session, keep))
    }
    return { configurable: { thread_id: thread, checkpoint_ns: ns, checkpoint_id: id } }
  }

  /** The writes of the ancestors, and the value that they begin with, for each channel. Reads each line of the log at most once. */
  override async getDeltaChannelHistory({
    config,
    channels,
  }: {
    config: Config
    channels: string[]
  }): Promise<DeltaHistories> {
    const thread = threadOf(config, "getDeltaChannelHistory", false)
    const ns = namespaceOf(config)
    const none = (): DeltaHistories => Object.fromEntries(channels.map((channel) => [channel, { writes: [] }]))
    if (thread === undefined || channels.length === 0) return none()
    const id = getCheckpointId(config)
    const read = (lines: LogLines): Promise<DeltaHistories> => readDeltaHistories(this, lines, ns, id, channels)
    return (await this.#retried(await sessionOf(thread), read)) ?? none()
  }

  /** Stores writes of a task. The checkpoint that they belong to may be put later. */
  async putWrites(config: Config, writes: PendingWrite[], taskId: string, taskPath = ""): Promise<void> {
    const thread = threadOf(config, "putWrites", true)
    const ns = namespaceOf(config)
    const id = getCheckpointId(config)
    if (id === "") {
      const message = 'Writes need a checkpoint: give putWrites a config with "checkpoint_id" in its "configurable".'
      throw new SessionError("invalid", message)
    }
    const stored = await Promise.all(
      writes.map(async ([channel, value], n) => {
        return [channel, indexOf(channel, n), await store(this.serde, value, { channel })] as const
      }),
    )
    await this.#writers.append(thread, await sessionOf(thread), false, async () => {
      return { type: WRITES, data: { ns, id, task: taskId, path: taskPath, writes: stored } }
    })
  }

  /** Deletes the thread with all of its checkpoints and writes. Idempotent. */
  async deleteThread(threadId: string): Promise<void> {
    const session = await sessionOf(threadId)
    await this.#writers.alone(threadId, session, async () => {
      await this.#sessions.delete(session).catch((error: unknown) => {
        if (!hasCode(error, "not_found")) throw error
      })
    })
  }

  /** Waits for running calls and closes the sessions that the saver has open, not the repository. The saver can be used again. */
  async close(): Promise<void> {
    await this.#writers.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #retried<T>(session: string, read: (lines: LogLines) => Promise<T>): Promise<T | undefined> {
    const { storage } = this.#sessions
    for (let attempt = 1; ; attempt++) {
      const head = await storage.head(session)
      if (head === undefined) return undefined
      try {
        return await read(new LogLines(storage, session, { next: head.next, log: head.log }))
      } catch (error) {
        if (!hasCode(error, "conflict") || attempt === ATTEMPTS) throw error
      }
    }
  }
}

function threadOf(config: Config, call: string, required: true): string
function threadOf(config: Config, call: string, required: false): string | undefined
function threadOf(config: Config, call: string, required: boolean): string | undefined {
  const thread: unknown = config.configurable?.["thread_id"]
  if (typeof thread === "string" || (thread === undefined && !required)) return thread
  const message = `${call} needs a thread: give it a config with a text as "thread_id" in its "configurable".`
  throw new SessionError("invalid", message)
}

/** The number of the nth write of a call. */
function indexOf(channel: string, n: number): number {
  // A channel may be called "constructor".
  return Object.hasOwn(WRITES_IDX_MAP, channel) ? (WRITES_IDX_MAP[channel] ?? n) : n
}

function namespaceOf(config: Config): string {
  return (config.configurable?.["checkpoint_ns"] as string | undefined) ?? ""
}
