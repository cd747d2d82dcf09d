/** The storage object: its options, and what its methods do with the session's writer and files. */
import { resolve } from "node:path"
import {
  checkOptions,
  defineStorage,
  type OptionNames,
  type Seq,
  type SessionStorage,
  StorageError,
  unlessAborted,
  watchHeads,
} from "@sessions/core/storage"
import { createBlobStore } from "./stores/blobs.ts"
import { createDocStore } from "./stores/docs.ts"
import { createDeps, type Deps } from "./deps.ts"
import { type Files, nodeFiles } from "./disk/files.ts"
import { POLL_MS } from "./notifier.ts"
import { toLayout, toSessionPaths } from "./disk/layout.ts"
import { sweepLeftovers, sweepStore } from "./write/sweep.ts"
import { type DecodeLines, decodeLines as decodeOnNode } from "./log/decode.ts"
import { listSessions } from "./read/list.ts"
import { infoIn, type StoredInfo } from "./log/metadata.ts"
import { readLines } from "./read/reader.ts"
import { isAnythingLeft, removeSession } from "./write/remove.ts"
import { replaceLog } from "./write/replace.ts"
import { rewriteFailed, syncSession } from "./write/sync.ts"
import { cutRecords } from "./log/torn.ts"
import { firstLineOf, markedHead, toHeadInfo } from "./log/view.ts"
import { createWriters } from "./write/writers.ts"

export interface FileStorageOptions {
  /** The folder that holds everything; made at the first write. */
  readonly root: string
  /**
   * The failures that an acknowledged append survives. `"os"` (default): the end of this process, however it ends, and one `sync` makes it as
   * good as the other; `"disk"`: a power failure, for about 0.3 ms more per append on a good disk.
   */
  readonly durability?: "os" | "disk"
  /** Default 50,000,000. A batch that does not fit goes whole to the next part; the longest line is one byte less. */
  readonly maxPartBytes?: number
  /** Default 200,000,000. Part of the capabilities; core enforces it. */
  readonly maxSessionBytes?: number
  /** How many milliseconds a write waits for other writers before it rejects with `unavailable`. Default 10,000. */
  readonly lockTimeout?: number
  /**
   * Allows a root that group or others may write and that has no sticky bit. By default every call on it rejects with `invalid`, because
   * such users can replace or remove sessions. Windows is not checked. Default false.
   */
  readonly allowSharedRoot?: boolean
  /** The operations on files; `node:fs` by default. */
  readonly files?: Files
  /** Decodes the bytes of whole lines; by default in the way that is fastest on Node. */
  readonly decodeLines?: DecodeLines
}

const OPTIONS: OptionNames<FileStorageOptions> = {
  root: true,
  durability: true,
  allowSharedRoot: true,
  maxPartBytes: true,
  maxSessionBytes: true,
  lockTimeout: true,
  files: true,
  decodeLines: true,
}

/** Sessions as files below a folder. Connects at its first use. Throws `invalid` for unknown options and wrong values. */
export function createFileStorage(o: FileStorageOptions): SessionStorage {
  checkOptions("createFileStorage", o, OPTIONS)
  const { maxPartBytes = 50_000_000, maxSessionBytes = 200_000_000, durability = "os", lockTimeout = 10_000 } = o
  checkStorageOptions(o.root, { maxPartBytes, maxSessionBytes, lockTimeout }, durability)
  const { allowSharedRoot = false } = o
  if (typeof allowSharedRoot !== "boolean")
    throw new StorageError("invalid", `\`allowSharedRoot\` is true or false, not ${JSON.stringify(allowSharedRoot)}.`)
  const layout = toLayout(resolve(o.root))
  const { files = nodeFiles, decodeLines = decodeOnNode } = o
  if (typeof files?.open !== "function" || typeof decodeLines !== "function")
    throw new StorageError(
      "invalid",
      "`files` must be an object with the operations on files, `decodeLines` a function.",
    )
  const deps = createDeps({ files, decodeLines, layout, allowSharedRoot, durability, maxPartBytes, lockTimeout })
  const writers = createWriters(deps)
  const sweep = createFirstUseSweep(deps)
  const { root } = deps
  const pendingInfo = (session: string, log: string, next: Seq): StoredInfo | undefined =>
    writers.find(session)?.infoOf(log, next)

  return defineStorage({
    description: deps.description,
    capabilities: {
      durability,
      atomicBatch: "prefix",
      writers: "host",
      listOrder: "updatedAt",
      deleteIf: true,
      maxLineBytes: maxPartBytes - 1,
      maxBatchBytes: maxPartBytes,
      maxSessionBytes,
    },
    aborts: true,
    infoLater: true,
    toError: (error, { doing, session, at }) => deps.error(error, doing, session, at),
    docs: createDocStore(deps),
    blobs: createBlobStore(deps),

    append(session, lines, options) {
      root.use()
      sweep.start()
      return writers.get(session).append(lines, options)
    },

    head(session, { first, cut }) {
      root.use()
      sweep.start()
      const view = deps.view(session)
      if (view === undefined) return undefined
      const info =
        pendingInfo(session, view.log, view.next) ??
        infoIn(view.metadata ?? deps.metadata.reread(view.folder), view.log, view.next)
      const line = first === true ? firstLineOf(files, decodeLines, view) : undefined
      const cutOff = cut === true ? cutRecords(files, view.folder) : []
      return {
        ...toHeadInfo(view),
        ...(info && { info }),
        ...(cutOff.length > 0 && { cut: cutOff }),
        ...(line !== undefined && { first: line }),
      }
    },

    read(session, range, { signal }) {
      root.use()
      return readLines(deps, session, range, signal)
    },

    list(options) {
      root.use()
      sweep.start()
      return listSessions(deps, options, pendingInfo)
    },

    delete(session, { signal, expect }) {
      root.use()
      sweep.start()
      const paths = toSessionPaths(layout, session)
      if (expect === undefined && !isAnythingLeft(deps, paths)) return { bytes: 0, parts: 0, purged: true }
      return writers.get(session).exclusively(() => removeSession(deps, paths, { signal, expect }), signal)
    },

    sweep({ dryRun = false }) {
      root.use()
      return sweepStore(deps, dryRun)
    },

    async sync(session, { signal }) {
      root.use()
      if (deps.unsynced.size > 0) await writers.get(session).exclusively(async () => rewriteFailed(deps, session))
      await unlessAborted(syncSession(deps, session), signal, () => true)
    },

    replace(session, chunks, options) {
      root.use()
      const paths = toSessionPaths(layout, session)
      return writers
        .get(session)
        .exclusively((checkHeld) => replaceLog(deps, paths, chunks, { ...options, checkHeld }), options.signal)
    },

    watch: watchHeads({
      head(session) {
        root.use()
        const view = deps.view(session)
        return view && markedHead(files, view)
      },
      subscribe: (session, listener) => deps.notifier.subscribe(toSessionPaths(layout, session), listener),
      interval: () => POLL_MS,
    }),

    async close() {
      await Promise.all([writers.close(), sweep.end()])
    },
  })
}

interface FirstUseSweep {
  start(): void
  /** Resolves when the sweep has ended, if it was started. */
  end(): Promise<void>
}

/** Removes what earlier processes left, once, after the first call: it must not make that call wait. */
function createFirstUseSweep({ files, layout }: Deps): FirstUseSweep {
  let timer: ReturnType<typeof setImmediate> | undefined
  let running: Promise<void> | undefined
  // A failure leaves everything to the next opening, and concerns no call.
  const run = (): Promise<void> => (running ??= sweepLeftovers(files, layout).catch(() => undefined))
  return {
    start() {
      timer ??= setImmediate(() => void run())
    },
    async end() {
      if (timer === undefined) return
      clearImmediate(timer)
      await run()
    },
  }
}

function checkStorageOptions(root: unknown, numbers: Readonly<Record<string, number>>, durability: string): void {
  if (typeof root !== "string" || root === "")
    throw new StorageError("invalid", "File storage needs `root`, the path of a folder.")
  if (root.includes("\0")) throw new StorageError("invalid", "No path has a NUL character, as this `root` has.")
  if (durability !== "os" && durability !== "disk") {
    throw new StorageError("invalid", `\`durability\` is "os" or "disk", not ${JSON.stringify(durability)}.`)
  }
  for (const [name, value] of Object.entries(numbers)) {
    if (Number.isSafeInteger(value) && value > 0) continue
    throw new StorageError("invalid", `\`${name}\` must be a whole number above 0, not ${String(value)}.`)
  }
}
