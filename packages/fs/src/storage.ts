/** The storage object: checks arguments and state, finds the session's writer, translates errors. */
import { resolve } from "node:path"
import {
  type Capabilities,
  checkAppendOptions,
  checkLines,
  checkListOptions,
  checkRange,
  checkSessionId,
  checkSignal,
  type SessionStorage,
  StorageError,
} from "@sessions/core/storage"
import { createBlobStore } from "./stores/blobs.ts"
import { createDocStore } from "./stores/docs.ts"
import { createEnvironment, type Environment } from "./environment.ts"
import { type Files, nodeFiles } from "./disk/files.ts"
import { toLayout, toSessionPaths } from "./disk/layout.ts"
import { type DecodeLines, decodeLines as decodeOnNode } from "./read/decode.ts"
import { listSessions } from "./read/list.ts"
import { infoIn, readMetadata, type StoredInfo } from "./log/metadata.ts"
import { readLines } from "./read/reader.ts"
import { isThere, removeSession } from "./session/remove.ts"
import { replaceLog } from "./session/replace.ts"
import { rewriteFailed, syncSession } from "./write/sync.ts"
import { toHeadInfo } from "./log/view.ts"
import { unlessAborted } from "./wait.ts"
import { watchLog } from "./read/watch.ts"
import { createWriters } from "./write/writers.ts"

export interface FileStorageOptions {
  /** The folder that holds everything; made at the first write. */
  readonly root: string
  /**
   * What an acknowledged append survives. `"os"` (default): the end of this process, however it ends, and one `sync` makes it as
   * good as the other; `"disk"`: a power failure, for about 0.3 ms more per append on a good disk.
   */
  readonly durability?: "os" | "disk"
  /** Default 50,000,000. A batch that does not fit goes whole to the next part; the longest line is one byte less. */
  readonly maxPartBytes?: number
  /** Default 200,000,000. Said in the capabilities; core holds to it. */
  readonly maxSessionBytes?: number
  /** Milliseconds that a write waits for other writers before it rejects with `unavailable`. Default 10,000. */
  readonly lockTimeout?: number
  /** The operations on files; Node's own by default. */
  readonly files?: Files
  /** How bytes become texts; the way that is fastest on Node by default. */
  readonly decodeLines?: DecodeLines
}

/** Sessions as files below a folder. Connects at its first use. */
export function createFileStorage(o: FileStorageOptions): SessionStorage {
  const { maxPartBytes = 50_000_000, maxSessionBytes = 200_000_000, durability = "os", lockTimeout = 10_000 } = o
  checkStorageOptions(o.root, { maxPartBytes, maxSessionBytes, lockTimeout }, durability)
  const layout = toLayout(resolve(o.root))
  const { files = nodeFiles, decodeLines = decodeOnNode } = o
  const env = createEnvironment({ files, decodeLines, layout, durability, maxPartBytes, lockTimeout })
  const writers = createWriters(env)
  let closed = false

  const enter = (session: string, signal: AbortSignal | undefined): void => {
    checkOpen()
    checkSessionId(session)
    checkSignal(signal)
  }
  const checkOpen = (): void => {
    if (closed)
      throw new StorageError("closed", `The storage ${env.description} was closed.`, { storage: env.description })
  }
  const capabilities: Capabilities = {
    durability,
    atomicBatch: "prefix",
    writers: "host",
    listOrder: "updatedAt",
    sync: true,
    watch: true,
    replace: true,
    maxLineBytes: maxPartBytes - 1,
    maxBatchBytes: maxPartBytes,
    maxSessionBytes,
  }
  const pendingInfo = (session: string, log: string): StoredInfo | undefined => writers.find(session)?.infoOf(log)

  return {
    capabilities,
    description: env.description,
    docs: createDocStore(env, checkOpen),
    blobs: createBlobStore(env, checkOpen),

    async append(session, lines, options) {
      enter(session, options?.signal)
      checkLines(lines, capabilities)
      checkAppendOptions(options)
      try {
        return await writers.get(session).append(lines, options)
      } catch (error) {
        throw env.error(error, "append to the log", session)
      }
    },

    async head(session, options) {
      enter(session, options?.signal)
      return translated(env, session, "look at the log", () => {
        const view = env.view(session)
        if (view === undefined) return undefined
        const info =
          pendingInfo(session, view.log) ??
          infoIn(view.metadata ?? readMetadata(env.files, view.folder), view.log, view.next)
        return { ...toHeadInfo(view), ...(info === undefined ? {} : { info }) }
      })
    },

    async *read(session, range, options) {
      enter(session, options?.signal)
      try {
        for await (const chunk of readLines(env, session, checkRange(range), options?.signal)) {
          checkOpen()
          yield chunk
        }
      } catch (error) {
        throw env.error(error, "read the log", session)
      }
    },

    async *list(options = {}) {
      checkOpen()
      checkListOptions(options, capabilities)
      checkSignal(options.signal)
      try {
        yield* listSessions(env, options, pendingInfo)
      } catch (error) {
        throw env.error(error, "list the sessions")
      }
    },

    async delete(session, options) {
      enter(session, options?.signal)
      const paths = toSessionPaths(layout, session)
      try {
        if (!isThere(env, paths)) return { bytes: 0, parts: 0 }
        return await writers.get(session).exclusively(() => removeSession(env, paths, options?.signal), options?.signal)
      } catch (error) {
        throw env.error(error, "delete the session", session, paths.folder)
      }
    },

    async sync(session, options) {
      enter(session, options?.signal)
      try {
        if (env.unsynced.size > 0) await writers.get(session).exclusively(async () => rewriteFailed(env, session))
        await unlessAborted(syncSession(env, session), options?.signal, () => true)
      } catch (error) {
        throw env.error(error, "sync the log", session)
      }
    },

    async replace(session, chunks, options) {
      enter(session, options?.signal)
      const paths = toSessionPaths(layout, session)
      try {
        return await writers
          .get(session)
          .exclusively((checkHeld) => replaceLog(env, paths, chunks, { ...options, checkHeld }), options?.signal)
      } catch (error) {
        throw env.error(error, "replace the log", session, paths.folder)
      }
    },

    watch(session, options) {
      enter(session, undefined)
      return watchLog(env, toSessionPaths(layout, session), options?.signal, () => closed)
    },

    async [Symbol.asyncDispose]() {
      closed = true
      env.bells.ringAll()
      await writers.close()
    },
  }
}

async function translated<T>(env: Environment, session: string, what: string, work: () => T): Promise<T> {
  try {
    return work()
  } catch (error) {
    throw env.error(error, what, session)
  }
}

function checkStorageOptions(root: unknown, numbers: Readonly<Record<string, number>>, durability: string): void {
  if (typeof root !== "string" || root === "")
    throw new StorageError("invalid", "File storage needs `root`, the path of a folder.")
  if (durability !== "os" && durability !== "disk") {
    throw new StorageError("invalid", `\`durability\` is "os" or "disk", not ${JSON.stringify(durability)}.`)
  }
  for (const [name, value] of Object.entries(numbers)) {
    if (Number.isSafeInteger(value) && value > 0) continue
    throw new StorageError("invalid", `\`${name}\` must be a whole number above 0, not ${String(value)}.`)
  }
}
