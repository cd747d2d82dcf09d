/** The object store of `@sessions/s3` over the binding of an R2 bucket, for Cloudflare Workers: the SDK of AWS does not run there. */
import { type ObjectStore, ObjectStoreError, type PutOptions } from "@sessions/s3"

/** What is used of the binding; that of `wrangler types` fits. */
export interface R2Bucket {
  get(key: string, o: { readonly range?: R2Range; readonly onlyIf?: Headers }): Promise<R2Object | R2ObjectBody | null>
  put(key: string, value: Uint8Array, o: { readonly onlyIf?: Headers }): Promise<R2Object | null>
  head(key: string): Promise<R2Object | null>
  list(o: { readonly prefix: string; readonly cursor?: string }): Promise<R2Objects>
  delete(key: string): Promise<void>
}
interface R2Range {
  readonly offset: number
  readonly length?: number
}
export interface R2Object {
  readonly key: string
  readonly etag: string
  readonly size: number
  readonly uploaded: Date
}
export interface R2ObjectBody extends R2Object {
  readonly body: ReadableStream<Uint8Array>
}
export interface R2Objects {
  readonly objects: R2Object[]
  readonly truncated: boolean
  readonly cursor?: string
}

/** The five methods that the storage uses. The binding has no conditional delete, and the storage finds that out by itself. */
export function createR2ObjectStore(bucket: R2Bucket): ObjectStore {
  return {
    get: (key, { range, unless } = {}) =>
      send(async () => {
        const length = range?.to === undefined ? {} : { length: range.to - range.from }
        const object = await bucket.get(key, {
          ...(range !== undefined && { range: { offset: range.from, ...length } }),
          ...(unless !== undefined && { onlyIf: new Headers({ "If-None-Match": `"${unless}"` }) }),
        })
        if (object === null) return undefined
        if (!("body" in object)) return "unchanged"
        const end = Math.min(range?.to ?? object.size, object.size)
        return { ...infoOf(object), length: end - (range?.from ?? 0), body: bytesOf(object.body) }
      }),
    put: (key, bytes, { condition } = {}) =>
      send(async () => {
        const object = await bucket.put(key, bytes, conditionOf(condition))
        if (object === null)
          throw new ObjectStoreError("precondition", "the condition does not hold", { certain: true })
        return { etag: object.etag, versioned: false }
      }),
    head: (key) =>
      send(async () => {
        const object = await bucket.head(key)
        return object === null ? undefined : infoOf(object)
      }),
    list: (prefix, { after } = {}) =>
      send(async () => {
        const page = await bucket.list({ prefix, ...(after !== undefined && { cursor: after }) })
        const objects = page.objects.map((object) => ({ key: object.key, ...infoOf(object) }))
        return { objects, ...(page.truncated && page.cursor !== undefined && { next: page.cursor }) }
      }),
    delete: (key) => send(() => bucket.delete(key)),
  }
}

function conditionOf(condition: PutOptions["condition"]): { readonly onlyIf?: Headers } {
  if (condition === undefined) return {}
  const header: [string, string] =
    condition.kind === "absent" ? ["If-None-Match", "*"] : ["If-Match", `"${condition.etag}"`]
  return { onlyIf: new Headers([header]) }
}

function infoOf({ etag, size, uploaded }: R2Object) {
  return { etag, size, lastModified: uploaded.getTime() }
}

async function* bytesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body.getReader()
  try {
    for (let step = await reader.read(); !step.done; step = await reader.read()) yield step.value
  } finally {
    await reader.cancel()
  }
}

async function send<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (cause) {
    if (cause instanceof ObjectStoreError) throw cause
    // More than one write a second to a key.
    const isSlow = String(cause).includes("(10058)")
    throw new ObjectStoreError(isSlow ? "slow" : "network", String(cause), { certain: isSlow, cause })
  }
}
export {}
