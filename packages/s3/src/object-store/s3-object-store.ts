/** {@link ObjectStore} over an `S3Client` of the AWS SDK. */
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from "@aws-sdk/client-s3"
import { StorageError } from "@sessions/core/storage"
import type { ObjectInfo, ObjectStore, PutCondition, RequestOptions } from "./object-store.ts"
import { type AnswerKind, foreignAnswer, isMissingObject, statusOf, toObjectStoreError } from "./s3-errors.ts"

/** Implements {@link ObjectStore} with the caller's client, which keeps its own retries and timeouts. Throws `invalid`. */
export function createS3ObjectStore(client: S3Client, bucket: string): ObjectStore {
  if (typeof client?.send !== "function")
    throw new StorageError("invalid", "An S3 storage needs a `client`: an S3Client of @aws-sdk/client-s3.")
  if (typeof bucket !== "string" || bucket === "")
    throw new StorageError("invalid", "An S3 storage needs the name of a `bucket`.")
  const send = async <T>(
    call: (o: { abortSignal?: AbortSignal }) => Promise<T>,
    o: RequestOptions = {},
    kind: AnswerKind = {},
  ): Promise<T> => {
    try {
      return await call(o.signal === undefined ? {} : { abortSignal: o.signal })
    } catch (error) {
      throw toObjectStoreError(error, kind)
    }
  }

  /**
   * Facts about an object, by its first byte: the answer to a HEAD has no error document, so a proxy's 404 would be a missing
   * object. Only of an empty object there is no first byte.
   */
  async function findObject(key: string, options: { abortSignal?: AbortSignal }): Promise<ObjectInfo | undefined> {
    try {
      const command = new GetObjectCommand({ Bucket: bucket, Key: key, Range: "bytes=0-0" })
      const { Body, ContentRange, VersionId, ...answer } = await client.send(command, options)
      // Unread, it would keep its connection. What is asked for is in the headers.
      await readAll(bytesOf(Body, true)).catch(() => undefined)
      return { ...infoOf(answer), size: partOf(ContentRange, 0).size, versioned: isVersion(VersionId) }
    } catch (error) {
      if (isMissingObject(error)) return undefined
      if (toObjectStoreError(error).failure !== "range") throw error
    }
    const command = new HeadObjectCommand({ Bucket: bucket, Key: key })
    const { ContentLength, VersionId, ...answer } = await client.send(command, options)
    if (ContentLength === undefined) throw foreignAnswer("Content-Length")
    return { ...infoOf(answer), size: ContentLength, versioned: isVersion(VersionId) }
  }

  return {
    get(key, o = {}) {
      const { range, unless } = o
      const command = new GetObjectCommand({
        Bucket: bucket,
        Key: key,
        ...(range !== undefined && { Range: `bytes=${range.from}-${range.to === undefined ? "" : range.to - 1}` }),
        ...(unless !== undefined && { IfNoneMatch: `"${unless}"` }),
      })
      return send(async (options) => {
        try {
          const { Body, ContentLength, ContentRange, VersionId, ...answer } = await client.send(command, options)
          const info = { ...infoOf(answer), versioned: isVersion(VersionId) }
          const part = range === undefined ? undefined : partOf(ContentRange, range.from)
          const length = part?.length ?? ContentLength
          if (length !== undefined)
            return { ...info, size: part?.size ?? length, length, body: bytesOf(Body, range !== undefined) }
          // A proxy that compresses or passes on in pieces leaves the length out. Nothing else tells a body that was cut off from a whole one.
          const bytes = await readAll(bytesOf(Body, range !== undefined))
          const stored = await findObject(key, options)
          if (stored?.etag !== info.etag || stored.size !== bytes.length)
            throw foreignAnswer(`Content-Length, and ${bytes.length} bytes in place of ${stored?.size}`)
          return { ...info, size: bytes.length, length: bytes.length, body: inOnePart(bytes) }
        } catch (error) {
          if (unless !== undefined && statusOf(error) === 304) return "unchanged"
          if (isMissingObject(error)) return undefined
          throw error
        }
      }, o)
    },

    put(key, bytes, o = {}) {
      const command = new PutObjectCommand({
        Bucket: bucket,
        Key: key,
        Body: bytes,
        ContentLength: bytes.length,
        ...conditionOf(o.condition),
      })
      return send(async (options) => {
        const { ETag, VersionId } = await client.send(command, options)
        return { etag: etagOf(ETag), versioned: isVersion(VersionId) }
      }, o)
    },

    head: (key, o) => send((options) => findObject(key, options), o, { isPart: true }),

    list(prefix, o = {}) {
      const command = new ListObjectsV2Command({
        Bucket: bucket,
        Prefix: prefix,
        ...(o.after !== undefined && { ContinuationToken: o.after }),
      })
      return send(async (options) => {
        const { Contents = [], IsTruncated, NextContinuationToken } = await client.send(command, options)
        // A page, or nothing, with the status of success would be a bucket without an object.
        if (IsTruncated === undefined) throw foreignAnswer("IsTruncated")
        if (IsTruncated && !NextContinuationToken) throw foreignAnswer("NextContinuationToken")
        const objects = Contents.map(({ Key, Size, ...answer }) => {
          if (!Key?.startsWith(prefix) || Size === undefined) throw foreignAnswer(`Key below ${prefix} with a Size`)
          return { key: Key, size: Size, ...infoOf(answer) }
        })
        return { objects, ...(IsTruncated && NextContinuationToken && { next: NextContinuationToken }) }
      }, o)
    },

    delete(key, o = {}) {
      const command = new DeleteObjectCommand({ Bucket: bucket, Key: key, ...conditionOf(o.condition) })
      return send(async (options) => {
        try {
          const { $metadata } = await client.send(command, options)
          // S3 answers 204. A store that answers 200 names its request.
          if ($metadata?.httpStatusCode === 200 && $metadata.requestId === undefined)
            throw foreignAnswer("x-amz-request-id")
        } catch (error) {
          if (o.condition !== undefined || !isMissingObject(error)) throw error
        }
      }, o)
    },

    async place() {
      // A stand-in for a client may have `send` alone.
      const { endpoint, region } = (client.config as Partial<S3Client["config"]> | undefined) ?? {}
      // The client knows an endpoint from its environment only after its first request.
      const { protocol, hostname, port, path } = (await endpoint?.()) ?? {}
      if (hostname === undefined) return `s3.${(await region?.()) ?? "aws"}/${bucket}`
      const root = (path ?? "").replace(/\/$/, "")
      return `${protocol}//${hostname}${port === undefined ? "" : `:${port}`}${root}/${bucket}`
    },
  }
}

function conditionOf(condition: PutCondition | undefined): { IfNoneMatch?: string; IfMatch?: string } {
  if (condition === undefined) return {}
  if (condition.kind === "absent") return { IfNoneMatch: "*" }
  return { IfMatch: condition.form === "quoted" ? `"${condition.etag}"` : condition.etag }
}

/** An object that was written without versioning has the version `null`. */
function isVersion(id: string | undefined): boolean {
  return id !== undefined && id !== "null"
}

/** Fields of every answer about an object. Without the time, a collector would take the object for an old one. */
function infoOf(answer: { readonly ETag?: string | undefined; readonly LastModified?: Date | undefined }): {
  readonly etag: string
  readonly lastModified: number
} {
  const lastModified = answer.LastModified?.getTime()
  if (lastModified === undefined || Number.isNaN(lastModified)) throw foreignAnswer("Last-Modified")
  return { etag: etagOf(answer.ETag), lastModified }
}

/** Without quotes. */
function etagOf(etag: string | undefined): string {
  const bare = (etag ?? "").replace(/^W\//, "").replace(/^"|"$/g, "")
  if (bare === "") throw foreignAnswer("ETag")
  return bare
}

/** Of `bytes 5-9/20`: the length of the range and the size of the object. */
function partOf(contentRange: string | undefined, from: number): { readonly length: number; readonly size: number } {
  const [, first, last, size] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(contentRange ?? "") ?? []
  if (Number(first) !== from) throw foreignAnswer(`Content-Range from ${from}`)
  return { length: Number(last) - from + 1, size: Number(size) }
}

async function readAll(parts: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = []
  for await (const part of parts) all.push(part)
  return new Uint8Array(await new Blob(all as BlobPart[]).arrayBuffer())
}

async function* inOnePart(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes
}

/** Node's streams are iterable; web streams are not in every browser. */
async function* bytesOf(body: unknown, isPart: boolean): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    if (isIterable(body)) yield* body
    else yield* chunksOf((body as { transformToWebStream(): ReadableStream<Uint8Array> }).transformToWebStream())
  } catch (error) {
    throw toObjectStoreError(error, { isPart })
  }
}

async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel()
  }
}

function isIterable(body: unknown): body is AsyncIterable<Uint8Array> {
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body
}
