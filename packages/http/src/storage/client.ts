/** A storage on the other side of HTTP: each method is a request to `createStorageHandler`. */
import {
  type AdapterListRow,
  type BlobInfo,
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
import type { ClientOptions } from "../client-options.ts"
import { BLOB_TYPE, LINES_TYPE, linesBody, NO_SUCH_BLOB } from "./protocol.ts"
import { readPages } from "./read-pages.ts"
import { readRows, type SentError, toError } from "./read-rows.ts"
import { type Ask, createRequests, type Requests } from "./requests.ts"
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

function reach(call: string, { timeout = 60_000, ...options }: ConnectHttpStorageOptions): Reached {
  const { url } = options
  if (typeof url !== "string" || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol) || /[?#]/.test(url))
    throw new StorageError(
      "invalid",
      `${call}: \`url\` must be that of a storage handler, such as "https://example.com/storage".`,
    )
  if (!(Number.isSafeInteger(timeout) && timeout > 0))
    throw new StorageError("invalid", `${call}: \`timeout\` must be a whole number of milliseconds above 0.`)
  const { origin, pathname } = new URL(url)
  const base = `${origin}${pathname.replace(/\/+$/, "")}`
  return { requests: createRequests({ ...options, url: base }, timeout), description: base }
}

async function fetchCapabilities({ send }: Requests): Promise<Capabilities> {
  return send({ path: "/capabilities" }, async (response) => {
    const capabilities = await jsonOf<Partial<Capabilities>>(response)
    if (typeof capabilities.maxBatchBytes === "number") return capabilities as Capabilities
    throw new StorageError(
      "unavailable",
      "The server has no capabilities; check `url`: it must be that of a storage handler.",
    )
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
  const send = async <T>(ask: Ask, read: (response: Response) => Promise<T>): Promise<T> => {
    await ready()
    return requests.send(ask, read)
  }
  const stream: Requests["stream"] = async (ask) => {
    await ready()
    return requests.stream(ask)
  }
  const checked: Requests = { send, stream, timeout: requests.timeout }
  const head: StorageAdapter["head"] = (session, o) =>
    send(
      { path: `/sessions/${session}/head`, query: { first: o.first === true ? "true" : undefined }, signal: o.signal },
      async (response) => (await jsonOf<{ readonly head: HeadInfo | null }>(response)).head ?? undefined,
    )

  return defineStorage({
    description,
    capabilities,
    head,
    docs: documents(checked),
    blobs: blobs(checked),

    append: (session, lines, { expect, info }) =>
      send(
        {
          method: "POST",
          path: `/sessions/${session}/lines`,
          type: LINES_TYPE,
          body: linesBody(
            { expect: expect === 0 ? 0 : toHead(expect), lines: lines.length, ...(info !== undefined && { info }) },
            lines,
          ),
        },
        async (response) => toHead(await jsonOf<Head>(response)),
      ),

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
        { method: "DELETE", path: `/sessions/${session}`, query: { next: expect?.next, log: expect?.log } },
        jsonOf<Deleted>,
      ),

    sweep: ({ dryRun }) =>
      send({ method: "POST", path: "/sweep", query: { dryRun: dryRun === true ? "true" : undefined } }, jsonOf<Swept>),

    ...(capabilities.watch && {
      watch: watchHeads({ head: (session) => head(session, {}), subscribe: createSubscriptions(checked) }),
    }),

    ...(capabilities.sync && {
      sync: (session: string) => send({ method: "POST", path: `/sessions/${session}/sync` }, async () => undefined),
    }),
  })
}

function documents(requests: Requests): StorageAdapter["docs"] {
  const { send } = requests
  return {
    get: (key, { signal }) =>
      send(
        { path: pathOf(key), signal },
        async (response) => (await jsonOf<{ readonly text: string | null }>(response)).text ?? undefined,
      ),

    async compareAndSet(key, from, to) {
      const body = JSON.stringify({ from, to })
      try {
        await send({ method: "PUT", path: pathOf(key), type: "application/json", body }, async () => undefined)
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

/** An answer that is no JSON is none of the handler's: it counts as lost. */
function jsonOf<T>(response: Response): Promise<T> {
  return response.json() as Promise<T>
}

function toHead({ next, log }: Head): Head {
  if (Number.isSafeInteger(next) && typeof log === "string") return { next, log }
  throw new Error("the answer has no head")
}

/** `name`, or `sessions/<id>/<name>`; both have only characters that a URL does not encode. */
function pathOf(key: string): string {
  const [, session, name] = key.split("/")
  return name === undefined ? `/docs/${key}` : `/sessions/${session}/docs/${name}`
}

function blobs(requests: Requests): StorageAdapter["blobs"] {
  const { send } = requests
  return {
    put: (hash, bytes) =>
      send({ method: "PUT", path: `/blobs/${hash}`, type: BLOB_TYPE, body: bytes }, async () => undefined),

    get: (hash, { signal }) =>
      send({ path: `/blobs/${hash}`, allow: 404, signal }, async (response) => {
        if (response.status === 404) {
          const { error } = await jsonOf<{ readonly error?: SentError }>(response)
          if (error?.code === NO_SUCH_BLOB) return undefined
          throw new StorageError("unavailable", "The server has no such route; check `url`.")
        }
        const bytes = new Uint8Array(await response.arrayBuffer())
        if ((await sha256Hex(bytes)) === hash) return bytes
        throw new StorageError("unavailable", "The answer is not the blob; repeat the call.")
      }),

    has: (hash, { signal }) =>
      send(
        { path: `/blobs/${hash}/exists`, signal },
        async (response) => (await jsonOf<{ readonly exists: boolean }>(response)).exists,
      ),

    delete: (hash, { ifPutBefore }) =>
      send(
        {
          method: "DELETE",
          path: `/blobs/${hash}`,
          query: { ifPutBefore: ifPutBefore === Number.POSITIVE_INFINITY ? undefined : ifPutBefore },
        },
        async (response) => (await jsonOf<{ readonly deleted: boolean }>(response)).deleted,
      ),

    list: ({ signal }) => readRows<BlobInfo>(requests, { path: "/blobs", signal }),
  }
}
