import type { S3Client } from "@aws-sdk/client-s3"
import {
  type Call,
  type CallOptions,
  checkOptions,
  checkRange,
  checkSessionId,
  createCalls,
  defineStorage,
  type OptionNames,
  type SessionStorage,
  StorageError,
} from "@sessions/core/storage"
import { append, type AppendDeps } from "./append/append.ts"
import { toBatch } from "./append/batch.ts"
import { createUnknownAppends } from "./append/unknown-appends.ts"
import type { Deps } from "./base/deps.ts"
import { headOf } from "./format/tail.ts"
import { createKeys } from "./base/keys.ts"
import { createLruCache } from "./base/lru-cache.ts"
import { DEFAULTS, type S3Tuning, toSettings } from "./base/settings.ts"
import { realTime, type Time } from "./base/time.ts"
import { createBlobs } from "./documents/blobs.ts"
import { createDocs } from "./documents/documents.ts"
import { type Collected, collectSession, sessionsWithObjects } from "./garbage-collection/collect.ts"
import { collectTombstones } from "./garbage-collection/tombstones.ts"
import type { EtagForm, ObjectStore } from "./object-store/object-store.ts"
import { refuseVersions } from "./object-store/refuse-versions.ts"
import { createS3ObjectStore } from "./object-store/s3-object-store.ts"
import { type ReadDeps, readLog } from "./read/read.ts"
import { toStorageError } from "./requests/errors.ts"
import { deleteSession } from "./sessions/delete.ts"
import { headInfoOf, listSessions } from "./sessions/list.ts"
import { replaceLog } from "./sessions/replace.ts"
import { createConditionalWrites, type S3Probe } from "./tail/conditional-writes.ts"
import { createTailCache } from "./tail/tail-cache.ts"
import { createWriteLocks } from "./tail/write-lock.ts"

export interface S3StorageOptions extends S3Tuning {
  /** Your client, with its region, credentials and endpoint. Closing the storage does not destroy it. */
  readonly client: S3Client
  readonly bucket: string
  /** Prefix of all keys; default none, the whole bucket. */
  readonly prefix?: string
  /** The result of `probe()` for this bucket. If given, no process probes before the first session that it creates. */
  readonly etags?: EtagForm
  /**
   * Allows a store without conditional writes, for a single process that ever writes: two writers would lose each other's lines.
   * Default false: such a store is refused with `unsupported`.
   */
  readonly unsafeSingleWriter?: boolean
  /**
   * Allows a versioned bucket, which needs a lifecycle rule that expires noncurrent versions; `delete` then never answers `purged`.
   * Default false: writes to such a bucket are refused with `unsupported`. If `etags` is given, the first answer that shows the
   * versions counts: that to the first write, or to reading an object that was written with versions.
   */
  readonly allowVersions?: boolean
}

/** {@link S3StorageOptions} with another object store in place of client and bucket. */
export type ObjectStorageOptions = Omit<S3StorageOptions, "client" | "bucket"> & {
  readonly store: ObjectStore
  /** Names the store in messages, e.g. `r2:my-bucket`. */
  readonly name: string
  /** Default: the machine's clock and random source. */
  readonly time?: Time
}

export interface S3Storage extends SessionStorage {
  /**
   * Finds out, with an object of its own, whether several writers are safe in this bucket. For deployments. `unavailable` if the
   * store cannot be used, within ten seconds.
   */
  probe(o?: CallOptions): Promise<S3Probe>
  /**
   * Removes the objects of one session, or of all, that nothing refers to: segments of writers that died or lost a race, and what
   * an interrupted deletion left. Without a session also tombstones older than `keepTombstones`, if the store has conditional DELETE,
   * and what probes left. Safe while others read and write.
   */
  collect(session?: string, o?: CallOptions): Promise<Collected>
}

const SHARED = { ...DEFAULTS, prefix: true, etags: true, unsafeSingleWriter: true, allowVersions: true }
const S3_OPTIONS: OptionNames<S3StorageOptions> = { client: true, bucket: true, ...SHARED }
const OBJECT_OPTIONS: OptionNames<ObjectStorageOptions> = { store: true, name: true, ...SHARED, time: true }

/**
 * Stores sessions in an S3 bucket, for any number of writers anywhere. An append is one request, and so is a resume whose context
 * lies in the newest 128 KB of the log. Connects at its first use. Throws `invalid` for unknown options
 * and wrong values.
 */
export function createS3Storage(options: S3StorageOptions): S3Storage {
  checkOptions("createS3Storage", options, S3_OPTIONS)
  const { client, bucket, ...rest } = options
  return createObjectStorage({ ...rest, store: createS3ObjectStore(client, bucket), name: `s3:${bucket}` })
}

/** The same over any object store that implements {@link ObjectStore}. */
export function createObjectStorage(options: ObjectStorageOptions): S3Storage {
  checkOptions("createObjectStorage", options, OBJECT_OPTIONS)
  checkValues(options)
  const { prefix = "", unsafeSingleWriter = false, allowVersions = false } = options
  const settings = toSettings(options)
  const time = options.time ?? realTime
  const keys = createKeys(prefix, settings.shard)
  const description = keys.prefix === "" ? options.name : `${options.name}/${keys.prefix}`
  const { store, isVersioned } = allowVersions
    ? { store: options.store, isVersioned: () => true }
    : refuseVersions(options.store)
  const deps: Deps = { store, keys, settings, time, description, mayKeepVersions: isVersioned }
  const tails = createTailCache(deps)
  // The probe writes to any bucket, and reports versions itself.
  const conditionalWrites = createConditionalWrites(
    { ...deps, store: options.store },
    {
      etags: options.etags,
      unsafeSingleWriter,
      allowVersions,
      place: async () => (await options.store.place?.()) ?? options.name,
      proofInTails: () => tails.proof,
    },
  )
  const readDeps: ReadDeps = { ...deps, tails, blocks: createLruCache(settings.cacheBytes) }
  const writeDeps: AppendDeps = { ...deps, tails, conditionalWrites, readLines }
  const locks = createWriteLocks()
  const unknownAppends = createUnknownAppends(time)
  const calls = createCalls({ description, aborts: true, toError })

  async function readLines(session: string, range: { readonly from: number; readonly to: number }): Promise<string[]> {
    const lines: string[] = []
    for await (const chunk of readLog(readDeps, session, checkRange(range), undefined)) lines.push(...chunk.lines)
    return lines
  }

  async function collectAll(dryRun: boolean, signal: AbortSignal | undefined): Promise<Collected> {
    const sessions = await sessionsWithObjects(deps, signal)
    const all: Collected[] = []
    for (const one of sessions)
      all.push(await locks.run(one, signal, (lock) => collectSession(writeDeps, one, lock, dryRun)))
    all.push(await collectTombstones(writeDeps, sessions, dryRun, signal))
    return sumOf(all)
  }

  function toError(error: unknown, { doing, session, at }: Call): StorageError {
    return toStorageError(deps, error, doing, { session, at })
  }

  const storage = defineStorage(
    {
      description,
      capabilities: {
        durability: "replicated",
        atomicBatch: "all",
        writers: unsafeSingleWriter ? "instance" : "any",
        listOrder: "updatedAt",
        deleteIf: true,
        maxLineBytes: settings.maxLineBytes,
        maxBatchBytes: settings.maxBatchBytes,
        maxSessionBytes: settings.maxSessionBytes,
      },
      docs: createDocs(writeDeps),
      blobs: createBlobs(writeDeps),

      append: (session, lines, o) =>
        locks.run(session, o.signal, (lock) =>
          unknownAppends.run(session, o.expect, lines, (token, sentBefore) =>
            append(writeDeps, session, toBatch(lines, { expect: o.expect, info: o.info, token }), lock, sentBefore),
          ),
        ),

      async head(session, { signal }) {
        const tail = await tails.fetchForHead(session, signal)
        if (tail.kind !== "live") return undefined
        const { mark } = headOf(tail)
        return {
          ...headInfoOf(deps, session, tail.manifest, tail.lastModified ?? 0),
          ...(mark !== undefined && { mark }),
        }
      },

      read: (session, range, { signal }) => readLog(readDeps, session, range, signal),

      list: ({ limit, signal }) => listSessions(deps, limit, signal),

      delete: (session, { signal, expect }) =>
        locks.run(session, signal, (lock) => deleteSession(writeDeps, session, lock, expect)),

      async sweep({ dryRun = false, signal }) {
        const { objects, bytes, left } = await collectAll(dryRun, signal)
        return { removed: objects, bytes, left }
      },

      sync() {
        // An acknowledged write is durable already.
      },

      replace: (session, chunks, { expect, signal }) =>
        locks.run(session, signal, (lock) => replaceLog(writeDeps, session, chunks, expect, lock)),

      close: () => locks.idle(),
    },
    calls,
  )

  return {
    ...storage,
    probe: (o) => calls.call({ doing: "probe the bucket" }, o, () => conditionalWrites.probe(o)),

    collect: (session, o) =>
      calls.call({ doing: "collect garbage", ...(session !== undefined && { session }) }, o, async () => {
        if (session !== undefined) checkSessionId(session)
        if (session !== undefined)
          return locks.run(session, o?.signal, (lock) => collectSession(writeDeps, session, lock, false))
        return collectAll(false, o?.signal)
      }),
  }
}

/** `toSettings` checks the numbers. */
function checkValues(options: ObjectStorageOptions): void {
  const { store, name, prefix = "", etags = "bare", time = realTime } = options
  if (typeof store?.put !== "function") throw invalidError("An object storage needs a `store`: an ObjectStore.")
  if (typeof name !== "string") throw invalidError("An object storage needs the `name` of its store, for messages.")
  if (typeof prefix !== "string") throw invalidError("`prefix` must be a string.")
  if (etags !== "quoted" && etags !== "bare")
    throw invalidError('`etags` must be "quoted" or "bare", as `probe()` answers.')
  if (typeof time?.now !== "function") throw invalidError("`time` must be an object with the functions of Time.")
  for (const flag of ["unsafeSingleWriter", "allowVersions"] as const) {
    if (options[flag] !== undefined && typeof options[flag] !== "boolean")
      throw invalidError(`\`${flag}\` must be true or false.`)
  }
}

function sumOf(all: readonly Collected[]): Collected {
  const sum = (key: keyof Collected): number => all.reduce((total, one) => total + one[key], 0)
  return { objects: sum("objects"), bytes: sum("bytes"), left: sum("left"), tombstones: sum("tombstones") }
}

function invalidError(message: string): StorageError {
  return new StorageError("invalid", message, { storage: "s3" })
}
