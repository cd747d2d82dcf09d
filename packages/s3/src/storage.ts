import type { S3Client } from "@aws-sdk/client-s3"
import type { Call, CallOptions, SessionStorage } from "@sessions/core/storage"
import { checkRange, checkSessionId, createCalls, defineStorage, StorageError } from "@sessions/core/storage"
import { append } from "./append/append.ts"
import { toBatch } from "./append/plan.ts"
import { createUnsettled } from "./append/unknown-appends.ts"
import { createCache } from "./base/lru-cache.ts"
import type { Collected } from "./garbage-collection/collect.ts"
import { collectSession, sessionsWithObjects } from "./garbage-collection/collect.ts"
import type { Environment } from "./base/deps.ts"
import { toStorageError } from "./requests/errors.ts"
import { createKeys } from "./base/keys.ts"
import { headInfoOf, listSessions } from "./sessions/list.ts"
import { createBlobs } from "./documents/blobs.ts"
import { createDocs } from "./documents/documents.ts"
import type { S3Probe } from "./tail/conditional-writes.ts"
import { createComparing } from "./tail/conditional-writes.ts"
import { readLog } from "./read/read.ts"
import { removeSession } from "./sessions/delete.ts"
import { replaceLog } from "./sessions/replace.ts"
import type { S3Tuning } from "./base/settings.ts"
import { toSettings } from "./base/settings.ts"
import type { EtagForm, ObjectStore } from "./object-store/object-store.ts"
import { createS3ObjectStore } from "./object-store/s3-object-store.ts"
import { createTails } from "./tail/tail-cache.ts"
import type { Time } from "./base/time.ts"
import { realTime } from "./base/time.ts"
import { createTurns } from "./tail/write-lock.ts"

export interface S3StorageOptions extends S3Tuning {
  /** Yours, with its region, credentials and endpoint. It stays yours: disposing of the storage does not destroy it. */
  readonly client: S3Client
  readonly bucket: string
  /** Under which everything lies; default nothing, the whole bucket. */
  readonly prefix?: string
  /** What `probe()` said of the bucket. Given, no process probes before the first session that it makes. */
  readonly etags?: EtagForm
  /**
   * For stores that do not compare before they write, and one process that ever writes: two would lose each other's lines.
   * Default false: such a store is refused.
   */
  readonly unsafeSingleWriter?: boolean
  /** For versioned buckets with a lifecycle rule that expires what is not current. Default false: such a bucket is refused. */
  readonly allowVersions?: boolean
}

/** {@link S3StorageOptions} with another store in the place of client and bucket. */
export type ObjectStorageOptions = Omit<S3StorageOptions, "client" | "bucket"> & {
  readonly store: ObjectStore
  /** Names the store in messages, e.g. `r2:my-bucket`. */
  readonly name: string
  /** Default the machine's. */
  readonly time?: Time
}

export interface S3Storage extends SessionStorage {
  /** Tries out, with an object of its own, whether several writers are safe in this bucket. For deployments. */
  probe(o?: CallOptions): Promise<S3Probe>
  /**
   * Removes what no session refers to: segments of writers that died or lost a race, and what a deletion left that was cut off.
   * Safe beside writers and readers. Of one session, or of all.
   */
  collect(session?: string, o?: CallOptions): Promise<Collected>
}

/**
 * Sessions in an S3 bucket, for any number of writers anywhere. An append is one request, and so is a resume whose context lies
 * in the log's newest 128 KB. Connects at its first use.
 */
export function createS3Storage(options: S3StorageOptions): S3Storage {
  const { client, bucket, ...rest } = options
  if (typeof bucket !== "string" || bucket === "") throw invalid("An S3 storage needs the name of a `bucket`.")
  if (typeof client?.send !== "function")
    throw invalid("An S3 storage needs a `client`: an S3Client of @aws-sdk/client-s3.")
  return createObjectStorage({ ...rest, store: createS3ObjectStore(client, bucket), name: `s3:${bucket}` })
}

/** The same over any store that has the five methods of {@link ObjectStore}. */
export function createObjectStorage(options: ObjectStorageOptions): S3Storage {
  const { prefix = "", unsafeSingleWriter = false } = options
  const settings = toSettings(options)
  const time = options.time ?? realTime
  const keys = createKeys(prefix, settings.shard)
  const env: Environment = {
    store: options.store,
    keys,
    settings,
    time,
    description: describe(options.name, keys.prefix),
  }
  const tails = createTails(env)
  const comparing = createComparing(env, {
    etags: options.etags,
    unsafeSingleWriter,
    allowVersions: options.allowVersions ?? false,
    told: () => tails.etags,
  })
  const turns = createTurns()
  const unsettled = createUnsettled(time)
  const reading = { env, tails, pieces: createCache<Uint8Array>(settings.cacheBytes) }
  const writing = { env, tails, comparing, lines: linesBetween }
  const calls = createCalls({ description: env.description, aborts: true, toError: explain })

  async function linesBetween(
    session: string,
    range: { readonly from: number; readonly to: number },
  ): Promise<string[]> {
    const lines: string[] = []
    for await (const chunk of readLog(reading, session, checkRange(range), undefined)) lines.push(...chunk.lines)
    return lines
  }

  function explain(error: unknown, { doing, session, at }: Call): StorageError {
    return toStorageError(env, error, doing, { session, at })
  }

  const storage = defineStorage(
    {
      description: env.description,
      capabilities: {
        durability: "replicated",
        atomicBatch: "all",
        writers: unsafeSingleWriter ? "instance" : "any",
        listOrder: "updatedAt",
        maxLineBytes: settings.maxLineBytes,
        maxBatchBytes: settings.maxBatchBytes,
        maxSessionBytes: settings.maxSessionBytes,
      },
      docs: createDocs({ env, tails, comparing }),
      blobs: createBlobs({ env, comparing }),

      append: (session, lines, o) =>
        turns.take(session, o.signal, (turn) =>
          unsettled.settle(session, o.expect, lines, (token, before) =>
            append(writing, session, toBatch(lines, { expect: o.expect, info: o.info, token }), turn, before),
          ),
        ),

      async head(session, { signal }) {
        const tail = await tails.fetchForReads(session, signal)
        return tail.kind === "live" ? headInfoOf(env, session, tail.manifest, tail.lastModified ?? 0) : undefined
      },

      read: (session, range, { signal }) => readLog(reading, session, range, signal),

      list: ({ limit, signal }) => listSessions(env, limit, signal),

      delete: (session, { signal }) => turns.take(session, signal, (turn) => removeSession(writing, session, turn)),

      sync() {
        // What was acknowledged is on stable storage already.
      },

      replace: (session, chunks, { expect, signal }) =>
        turns.take(session, signal, (turn) => replaceLog(writing, session, chunks, expect, turn)),

      close: () => turns.settled(),
    },
    calls,
  )

  return {
    ...storage,
    probe: (o) => calls.call({ doing: "probe the bucket" }, o, () => comparing.probe(o)),

    collect: (session, o) =>
      calls.call(
        { doing: "collect what nothing refers to", ...(session !== undefined && { session }) },
        o,
        async () => {
          if (session !== undefined) checkSessionId(session)
          const sessions = session === undefined ? await sessionsWithObjects(env, o?.signal) : [session]
          let sum: Collected = { objects: 0, bytes: 0 }
          for (const one of sessions) {
            const { objects, bytes } = await turns.take(one, o?.signal, (turn) => collectSession(writing, one, turn))
            sum = { objects: sum.objects + objects, bytes: sum.bytes + bytes }
          }
          return sum
        },
      ),
  }
}

function describe(name: string, prefix: string): string {
  return prefix === "" ? name : `${name}/${prefix}`
}

function invalid(message: string): StorageError {
  return new StorageError("invalid", message, { storage: "s3" })
}
