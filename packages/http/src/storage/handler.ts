/** Serves a storage over HTTP: each route calls one method of the contract. */
import {
  batchBytes as bytesOfLines,
  type Capabilities,
  checkOptions,
  type Head,
  type OptionNames,
  parseDocKey,
  type SessionStorage,
  sha256Hex,
  StorageError,
  utf8Length,
} from "@sessions/core/storage"
import { json, NO_STORE, readBytes, readJson, readQuery } from "../answers.ts"
import type { Answer } from "../direct.ts"
import { toErrorBody } from "../errors.ts"
import { type Call, createHandler, type Handler, type HandlerOptions, logError } from "../handler.ts"
import { checkLimits, createGate, type Gate, type TenantLimits } from "../limits.ts"
import { withoutPlaces } from "../parts.ts"
import { createQuota, type Quota, type Room } from "../quota.ts"
import { invalid, Refusal } from "../refusal.ts"
import { repeatsOf, writeIdOf } from "../repeats.ts"
import { BLOB_BYTES, DOCUMENT_BYTES } from "../sizes.ts"
import { appendLines, toAppend } from "./append.ts"
import { changeDocument, documentChange } from "./documents.ts"
import { readPage } from "./page.ts"
import { BLOB_TYPE, LINES_TYPE, NO_SUCH_BLOB } from "./protocol.ts"
import {
  blobQuery,
  appendQuery,
  deleteQuery,
  documentsQuery,
  headQuery,
  linesQuery,
  listQuery,
  storageRoutes,
  sweepQuery,
} from "./routes.ts"
import { rowsAnswer } from "./rows.ts"
import { watchLog } from "./watch.ts"

export interface StorageHandlerLimits extends TenantLimits {
  /** The largest batch of lines. Default: that of the storage. Clients see the smaller of the two as `maxBatchBytes`. */
  readonly batchBytes?: number
  /** The largest body of a change of a document, which has the text before and the text after it. Default 16,000,000. */
  readonly documentBytes?: number
  /** The largest blob. Default 50,000,000. */
  readonly blobBytes?: number
}

export interface StorageHandlerOptions<P> extends HandlerOptions<P> {
  /**
   * The storage of a principal. Each principal that must not see what others have needs a storage of its own (a root, prefix or schema):
   * all of it is open to its principal. It should be the same object for each request of a principal.
   */
  readonly storage: (principal: P) => SessionStorage | Promise<SessionStorage>
  readonly limits?: StorageHandlerLimits
}

const OPTIONS: OptionNames<StorageHandlerOptions<never>> = {
  storage: true,
  authorize: true,
  basePath: true,
  cors: true,
  onError: true,
  limits: true,
}
const LIMITS: OptionNames<StorageHandlerLimits> = {
  batchBytes: true,
  documentBytes: true,
  blobBytes: true,
  requestsPerMinute: true,
  streams: true,
  sessions: true,
  bytes: true,
  bodyBytesPerSecond: true,
}

/** Others write beside this process rarely, and each document is read to be counted. */
const RECOUNT_MS = 300_000

/** The first line of a body of lines: 8 KB of `info`, escaped as JSON. */
const APPEND_HEAD_BYTES = 64_000

type StorageRoute = (typeof storageRoutes)[number]

interface BodyLimits {
  readonly batchBytes: number
  readonly documentBytes: number
  readonly blobBytes: number
  readonly bytesPerSecond: number | undefined
}

interface StorageCall<P> extends Call<P, StorageRoute> {
  readonly storage: SessionStorage
  readonly limits: BodyLimits
  readonly gate: Gate
  readonly quota: Quota
  /** The id of a write. */
  readonly id: string | undefined
  readonly onError: (error: unknown) => void
}

/**
 * Creates the handler of a storage, for `createHttpStorage`. It serves everything that the storage of the principal has, so `authorize` and
 * `storage` decide who sees what. The storage's `replace` is not served. Throws `invalid` for wrong options.
 */
export function createStorageHandler<P>(options: StorageHandlerOptions<P>): Handler {
  const name = "createStorageHandler"
  checkOptions<object>(name, options, OPTIONS)
  checkOptions(`${name}, limits`, options.limits ?? {}, LIMITS)
  checkLimits(name, options.limits ?? {})
  const gate = createGate(options.limits ?? {})
  const quota = createQuota(options.limits ?? {}, { recountMs: RECOUNT_MS, documents: true, now: Date.now })
  const { storage: storageOf, onError = logError } = options
  if (typeof storageOf !== "function")
    throw new StorageError("invalid", `${name}: \`storage\` must be a function from a principal to its storage.`)
  return createHandler(name, storageRoutes, options, async (call) => {
    const storage = await storageOf(call.principal)
    gate.request(storage)
    const {
      batchBytes,
      documentBytes = DOCUMENT_BYTES,
      blobBytes = BLOB_BYTES,
      bodyBytesPerSecond,
    } = options.limits ?? {}
    const limits = {
      batchBytes: batchBytes ?? storage.capabilities.maxBatchBytes,
      documentBytes,
      blobBytes,
      bytesPerSecond: bodyBytesPerSecond,
    }
    const id = writeIdOf(call.request)
    return serve({ ...call, storage, limits, gate, quota, id, onError: (error) => onError(error, call.request) })
  })
}

function serve<P>(call: StorageCall<P>): Promise<Answer> | Answer {
  const { storage, url, params } = call
  const session = params["session"] ?? ""
  switch (call.route.action) {
    case "capabilities":
      return json(200, capabilitiesOf(storage, call.limits))
    case "list":
      return list(call)
    case "delete":
      return deleteSession(call, session, readQuery(url, deleteQuery))
    case "sweep":
      return sweep(storage, readQuery(url, sweepQuery).dryRun === "true")
    case "head":
      return headOf(storage, session, readQuery(url, headQuery).first === "true")
    case "read":
      return readPage(storage, session, readQuery(url, linesQuery))
    case "append":
      return append(call, session)
    case "sync":
      return sync(storage, session)
    case "watch":
      return watchLog(storage, session, () => call.gate.stream(storage))
    case "readDocument":
    case "readSessionDocument":
      return readDocument(storage, keyOf(call))
    case "changeDocument":
    case "changeSessionDocument":
      return change(call)
    case "listDocuments":
      return rowsAnswer(storage.docs.list(readQuery(url, documentsQuery).prefix), (key) => key, call.onError)
    case "listBlobs":
      return rowsAnswer(storage.blobs.list(), (blob) => blob, call.onError)
    case "readBlob":
      return readBlob(call, hashOf(call))
    case "findBlob":
      return storage.blobs.has(hashOf(call)).then((exists) => json(200, { exists }))
    case "putBlob":
      return putBlob(call, hashOf(call))
    case "deleteBlob":
      return deleteBlob(call, hashOf(call))
  }
}

/**
 * What clients may rely on: all of them write through this handler, so they are as safe as the storage behind it, wherever they are. The
 * limit of a body is the limit of a batch.
 */
function capabilitiesOf({ capabilities }: SessionStorage, { batchBytes }: BodyLimits): Capabilities {
  const maxBatchBytes = Math.min(capabilities.maxBatchBytes, batchBytes)
  const maxLineBytes = Math.min(capabilities.maxLineBytes, maxBatchBytes - 1)
  return { ...capabilities, writers: "any", replace: false, maxBatchBytes, maxLineBytes }
}

function list<P>({ storage, url, onError }: StorageCall<P>): Promise<Answer> {
  const { after, limit } = readQuery(url, listQuery)
  const rows = storage.list({ ...(after !== undefined && { after }), ...(limit !== undefined && { limit }) })
  return rowsAnswer(
    rows,
    (row) => (row.error === undefined ? withoutPlaces(row) : { id: row.id, ...toErrorBody(row.error) }),
    onError,
  )
}

async function deleteSession<P>(
  { storage, id, quota }: StorageCall<P>,
  session: string,
  { next, log, mark }: { readonly [Field in keyof Head]?: Head[Field] | undefined },
): Promise<Answer> {
  const isAny = next === undefined || log === undefined
  const expect = isAny ? {} : { expect: { next, log, ...(mark !== undefined && { mark }) } }
  const { bytes, parts, purged } = await repeatsOf(storage).once(id && `delete ${session} ${id}`, () =>
    storage.delete(session, expect),
  )
  if (bytes > 0) quota.freed(storage)
  return json(200, { bytes, parts, purged })
}

/** A storage without `sweep` has nothing to remove. */
async function sweep(storage: SessionStorage, dryRun: boolean): Promise<Answer> {
  const { removed, bytes, left } = (await storage.sweep?.({ dryRun })) ?? { removed: 0, bytes: 0, left: 0 }
  return json(200, { removed, bytes, left })
}

async function headOf(storage: SessionStorage, session: string, first: boolean): Promise<Answer> {
  const head = await storage.head(session, { first })
  return json(200, { head: head === undefined ? null : withoutPlaces(head) })
}

async function append<P>(call: StorageCall<P>, session: string): Promise<Answer> {
  const { request, storage, limits, id, quota } = call
  const { batchBytes, bytesPerSecond } = limits
  const body = await readBytes(request, LINES_TYPE, { bytes: batchBytes + APPEND_HEAD_BYTES, bytesPerSecond })
  const lines = toAppend(body, readQuery(call.url, appendQuery).mark)
  const room = { bytes: bytesOfLines(lines.content), ...(lines.expect === 0 && { sessions: 1 }) }
  return json(200, await quota.within(storage, storage, room, () => appendLines(storage, session, lines, id)))
}

async function sync(storage: SessionStorage, session: string): Promise<Answer> {
  if (storage.sync === undefined) throw new StorageError("unsupported", "This storage has no `sync`.")
  await storage.sync(session)
  return done()
}

function keyOf<P>({ params }: StorageCall<P>): string {
  const { session, name } = params
  const key = session === undefined ? `${name}` : `sessions/${session}/${name}`
  // An encoded slash in the name would make another key.
  if (parseDocKey(key).name !== name) throw invalid("The name of a document has no slash.")
  return key
}

async function readDocument(storage: SessionStorage, key: string): Promise<Answer> {
  return json(200, { text: (await storage.docs.get(key))?.text ?? null })
}

async function change<P>(call: StorageCall<P>): Promise<Answer> {
  const key = keyOf(call)
  const { request, storage, limits, id, quota } = call
  const { documentBytes: bytes, bytesPerSecond } = limits
  const given = await readJson(request, documentChange, { bytes, bytesPerSecond })
  const more = utf8Length(given.to ?? "") - utf8Length(given.from ?? "")
  const write = (): Promise<void> => changeDocument(storage, key, given, id)
  // A document may become shorter in a storage that is full.
  await (more > 0 ? quota.within(storage, storage, { bytes: more }, write) : write())
  if (more < 0) quota.freed(storage)
  return done()
}

function hashOf<P>({ params }: StorageCall<P>): string {
  const { hash = "" } = params
  if (!/^[0-9a-f]{64}$/.test(hash))
    throw invalid("The hash of a blob must be the 64 lower-case hex digits of its SHA-256.")
  return hash
}

/** A browser may keep the bytes, but asks each time: a blob that was deleted must be gone. */
async function readBlob<P>({ request, storage }: StorageCall<P>, hash: string): Promise<Answer> {
  const etag = `"${hash}"`
  const headers = { ...NO_STORE, "cache-control": "private, no-cache", etag }
  const known = request.headers.get("if-none-match")?.includes(etag) === true
  if (known && (await storage.blobs.has(hash))) return new Response(null, { status: 304, headers })
  const bytes = await storage.blobs.get(hash)
  if (bytes === undefined) throw new Refusal(404, NO_SUCH_BLOB, "There is no such blob.")
  return new Response(bytes as Uint8Array<ArrayBuffer>, { headers: { ...headers, "content-type": BLOB_TYPE } })
}

async function putBlob<P>({ request, storage, limits, quota }: StorageCall<P>, hash: string): Promise<Answer> {
  const { blobBytes, bytesPerSecond } = limits
  const bytes = await readBytes(request, BLOB_TYPE, { bytes: blobBytes, bytesPerSecond })
  if ((await sha256Hex(bytes)) !== hash) throw invalid("The bytes do not have this SHA-256.")
  // A put of bytes that are there renews their time.
  const room = async (): Promise<Room> => ({ bytes: (await storage.blobs.has(hash)) ? 0 : bytes.length })
  await quota.within(storage, storage, room, () => storage.blobs.put(bytes))
  return done()
}

async function deleteBlob<P>({ storage, url, id, quota }: StorageCall<P>, hash: string): Promise<Answer> {
  const { ifPutBefore } = readQuery(url, blobQuery)
  const deleted = await repeatsOf(storage).once(id && `blob ${hash} ${id}`, () =>
    storage.blobs.delete(hash, ifPutBefore === undefined ? {} : { ifPutBefore }),
  )
  if (deleted) quota.freed(storage)
  return json(200, { deleted })
}

/** A status alone proves nothing: servers on the way answer with 200 or 204, too. */
function done(): Answer {
  return json(200, { done: true })
}
