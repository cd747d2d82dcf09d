/** A storage on the other side of HTTP: each method is a request to `createStorageHandler`. */
import {
  type AdapterListRow,
  type BlobInfo,
  type CallOptions,
  type Capabilities,
  checkOptions,
  connectOnce,
  type Deleted,
  defineStorage,
  type Head,
  type HeadInfo,
  type ListedSession,
  type OptionNames,
  type SessionStorage,
  sha256Hex,
  type StorageAdapter,
  StorageError,
  type Swept,
  watchHeads,
} from "@sessions/core/storage"
import { bytesOf } from "../bytes.ts"
import { type ClientOptions, handlerUrl } from "../client-options.ts"
import { errorIn, type SentError } from "../provenance.ts"
import { DEFAULT_TIMEOUT, isTimeout } from "../time-limit.ts"
import { BLOB_TYPE, LINES_TYPE, linesBody, NO_SUCH_BLOB } from "./protocol.ts"
import { done, isCount, isHead, isHeadInfo, json } from "./read-answer.ts"
import { readPages } from "./read-pages.ts"
import { readRows, toError } from "./read-rows.ts"
import { createRequests, type Requests } from "./requests.ts"
import { createSubscriptions } from "./subscriptions.ts"

export interface HttpStorageOptions extends ClientOptions {
  /** The capabilities of the server's storage, as `connectHttpStorage(…)` has found them. */
  readonly capabilities: Capabilities
  /** Milliseconds until a request without an answer has failed. Default 60,000. */
  readonly timeout?: number
}

export type ConnectHttpStorageOptions = Omit<HttpStorageOptions, "capabilities">

const CONNECT_OPTIONS: OptionNames<ConnectHttpStorageOptions> = {
  url: true,
  headers: true,
  fetch: true,
  credentials: true,
  timeout: true,
}
const OPTIONS: OptionNames<HttpStorageOptions> = { ...CONNECT_OPTIONS, capabilities: true }

/** Asks the server for its capabilities, and creates the storage. Rejects with `unavailable` if the server is not reached. */
export async function connectHttpStorage(options: ConnectHttpStorageOptions): Promise<SessionStorage> {
  const name = "connectHttpStorage"
  checkOptions(name, options, CONNECT_OPTIONS)
  const { requests, description } = reach(name, options)
  const capabilities = await fetchCapabilities(requests)
  return create(requests, description, capabilities, async () => undefined)
}

/**
 * Creates the storage without asking the server. Its first call compares the capabilities with the server's, and is `invalid` if the server
 * guarantees less. Throws `invalid` for wrong options.
 */
export function createHttpStorage(options: HttpStorageOptions): SessionStorage {
  const name = "createHttpStorage"
  checkOptions(name, options, OPTIONS)
  const { capabilities } = options
  if (typeof capabilities?.maxBatchBytes !== "number")
    throw new StorageError(
      "invalid",
      `${name} needs \`capabilities\`; connectHttpStorage({ url }) asks the server for them.`,
    )
  const { requests, description } = reach(name, options)
  const compared = connectOnce({
    open: async () => compare(capabilities, await fetchCapabilities(requests)),
    close: () => undefined,
  })
  return create(requests, description, capabilities, compared.get)
}

interface Reached {
  readonly requests: Requests
  readonly description: string
}

function reach(call: string, { timeout = DEFAULT_TIMEOUT, ...options }: ConnectHttpStorageOptions): Reached {
  const url = handlerUrl(options.url)
  if (url === undefined)
    throw new StorageError(
      "invalid",
      `${call}: \`url\` must be that of a storage handler, such as "https://example.com/storage".`,
    )
  if (!isTimeout(timeout))
    throw new StorageError("invalid", `${call}: \`timeout\` must be a whole number of milliseconds above 0.`)
  return { requests: createRequests({ ...options, url }, timeout), description: url }
}

async function fetchCapabilities({ send }: Requests): Promise<Capabilities> {
  const isWhole = json<Capabilities>(
    ({ durability, maxLineBytes, maxBatchBytes, maxSessionBytes }) =>
      typeof durability === "string" && [maxLineBytes, maxBatchBytes, maxSessionBytes].every(isCount),
  )
  return send({ path: "/capabilities" }, async (response, alive) => {
    try {
      return await isWhole(response, alive)
    } catch (cause) {
      const message = "The server has no capabilities; check `url`: it must be that of a storage handler."
      throw new StorageError("unavailable", message, { cause })
    }
  })
}

/** Throws `invalid` if a capability differs; the server's limits may be higher. */
function compare(given: Capabilities, { ...server }: Capabilities): void {
  for (const [name, value] of Object.entries(server) as [keyof Capabilities, unknown][]) {
    const enough = typeof value === "number" ? value >= Number(given[name]) : value === given[name]
    if (enough) continue
    const message = `\`capabilities.${name}\` is ${given[name]}, but the server has ${String(value)}; ask it with connectHttpStorage({ url }).`
    throw new StorageError("invalid", message)
  }
}

type SentRow = ListedSession | { readonly id: string; readonly error: SentError }

function create(
  requests: Requests,
  description: string,
  capabilities: Capabilities,
  ready: () => Promise<unknown>,
): SessionStorage {
  const send: Requests["send"] = async (ask, read) => {
    await ready()
    return requests.send(ask, read)
  }
  const stream: Requests["stream"] = async (ask) => {
    await ready()
    return requests.stream(ask)
  }
  const checked: Requests = { send, stream, timeout: requests.timeout }
  const headAnswer = json<{ readonly head: HeadInfo | null }>(
    ({ head }) => head === null || (typeof head === "object" && isHeadInfo(head)),
  )
  const head = async (session: string, { first, signal }: Parameters<StorageAdapter["head"]>[1]) => {
    const query = { first: first === true ? "true" : undefined }
    const { head } = await send({ path: `/sessions/${session}/head`, query, signal }, headAnswer)
    return head ?? undefined
  }

  return defineStorage({
    description,
    capabilities,
    head,
    docs: documents(checked),
    blobs: blobs(checked),

    async append(session, lines, { expect, info }) {
      const known = expect === 0 ? 0 : { next: expect.next, log: expect.log }
      const next = (known === 0 ? 0 : known.next) + lines.length
      const { log } = await send(
        {
          method: "POST",
          path: `/sessions/${session}/lines`,
          query: { mark: expect === 0 ? undefined : expect.mark },
          type: LINES_TYPE,
          body: linesBody({ expect: known, lines: lines.length, ...(info !== undefined && { info }) }, lines),
          isUndone: async () => {
            const now = await head(session, {})
            return known === 0 ? now === undefined : now?.next === known.next && now.log === known.log
          },
        },
        json<Head>((head) => isHead(head) && head.next === next && (known === 0 || head.log === known.log)),
      )
      return { next, log }
    },

    read: (session, range, { signal }) => readPages(checked, session, range, signal),

    async *list({ after, limit, signal }) {
      const query = { after: after || undefined, limit: limit === Number.POSITIVE_INFINITY ? undefined : limit }
      for await (const rows of readRows<SentRow>(checked, { path: "/sessions", query, signal })) {
        yield rows.map(
          (row): AdapterListRow => (row.error === undefined ? row : { id: row.id, error: toError(row.error) }),
        )
      }
    },

    delete: (session, { expect }) =>
      send(
        {
          method: "DELETE",
          path: `/sessions/${session}`,
          query: { next: expect?.next, log: expect?.log, mark: expect?.mark },
        },
        json<Deleted>(({ bytes, parts, purged }) => isCount(bytes) && isCount(parts) && typeof purged === "boolean"),
      ),

    sweep: ({ dryRun }) =>
      send(
        { method: "POST", path: "/sweep", query: { dryRun: dryRun === true ? "true" : undefined } },
        json<Swept>(({ removed, bytes, left }) => [removed, bytes, left].every(isCount)),
      ),

    ...(capabilities.watch && {
      watch: watchHeads({ head: (session) => head(session, {}), subscribe: createSubscriptions(checked) }),
    }),

    ...(capabilities.sync && {
      sync: async (session: string) => {
        await send({ method: "POST", path: `/sessions/${session}/sync`, changesNothing: true }, done)
      },
    }),
  })
}

function documents(requests: Requests): StorageAdapter["docs"] {
  const { send } = requests
  const answer = json<{ readonly text: string | null }>(({ text }) => text === null || typeof text === "string")
  const get = async (key: string, { signal }: CallOptions): Promise<string | undefined> => {
    const { text } = await send({ path: pathOf(key), signal }, answer)
    return text ?? undefined
  }
  return {
    get,

    async compareAndSet(key, from, to) {
      const body = JSON.stringify({ from, to })
      const isUndone = async (): Promise<boolean> => ((await get(key, {})) ?? null) === from
      try {
        await send({ method: "PUT", path: pathOf(key), type: "application/json", body, isUndone }, done)
        return true
      } catch (error) {
        if ((error as StorageError).code === "conflict") return false
        throw error
      }
    },

    list: (prefix, { signal }) =>
      readRows<string>(requests, { path: "/docs", query: { prefix: prefix || undefined }, signal }),
  }
}

/** `name`, or `sessions/<id>/<name>`; both have only characters that a URL does not encode. */
function pathOf(key: string): string {
  const [, session, name] = key.split("/")
  return name === undefined ? `/docs/${key}` : `/sessions/${session}/docs/${name}`
}

function blobs(requests: Requests): StorageAdapter["blobs"] {
  const { send } = requests
  const found = json<{ readonly exists: boolean }>(({ exists }) => typeof exists === "boolean")
  const removed = json<{ readonly deleted: boolean }>(({ deleted }) => typeof deleted === "boolean")
  const has = async (hash: string, { signal }: CallOptions): Promise<boolean> => {
    const { exists } = await send({ path: `/blobs/${hash}/exists`, signal }, found)
    return exists
  }
  return {
    has,

    async put(hash, bytes) {
      const isUndone = async (): Promise<boolean> => !(await has(hash, {}))
      await send({ method: "PUT", path: `/blobs/${hash}`, type: BLOB_TYPE, body: bytes, isUndone }, done)
    },

    async get(hash, { signal }) {
      const bytes = await send({ path: `/blobs/${hash}`, allow: 404, signal }, async (response, alive) => {
        if (response.status !== 404) return bytesOf(response, alive)
        if ((await errorIn(response))?.code === NO_SUCH_BLOB) return undefined
        throw new StorageError("unavailable", "The server has no such route; check `url`.")
      })
      if (bytes === undefined || (await sha256Hex(bytes)) === hash) return bytes
      throw new StorageError("unavailable", "The answer is not the blob; repeat the call.")
    },

    async delete(hash, { ifPutBefore }) {
      const query = { ifPutBefore: ifPutBefore === Number.POSITIVE_INFINITY ? undefined : ifPutBefore }
      const { deleted } = await send({ method: "DELETE", path: `/blobs/${hash}`, query }, removed)
      return deleted
    },

    list: ({ signal }) => readRows<BlobInfo>(requests, { path: "/blobs", signal }),
  }
}
