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
import type { ObjectStore, PutCondition, RequestOptions } from "./object-store.ts"
import { isMissingObject, statusOf, toObjectStoreError } from "./s3-errors.ts"

/** Implements {@link ObjectStore} with the caller's client, which keeps its own retries and timeouts. Throws `invalid`. */
export function createS3ObjectStore(client: S3Client, bucket: string): ObjectStore {
  if (typeof client?.send !== "function")
    throw new StorageError("invalid", "An S3 storage needs a `client`: an S3Client of @aws-sdk/client-s3.")
  if (typeof bucket !== "string" || bucket === "")
    throw new StorageError("invalid", "An S3 storage needs the name of a `bucket`.")
  const send = async <T>(
    call: (o: { abortSignal?: AbortSignal }) => Promise<T>,
    o: RequestOptions = {},
  ): Promise<T> => {
    try {
      return await call(o.signal === undefined ? {} : { abortSignal: o.signal })
    } catch (error) {
      throw toObjectStoreError(error)
    }
  }
  const unlessMissing = async <T>(call: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await call()
    } catch (error) {
      if (isMissingObject(error)) return undefined
      throw error
    }
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
      return send(
        (options) =>
          unlessMissing(async () => {
            try {
              const { Body, ETag, LastModified, ContentLength, ContentRange, VersionId } = await client.send(
                command,
                options,
              )
              const length = ContentLength ?? 0
              const size = Number(ContentRange?.split("/")[1] ?? length)
              return {
                etag: bare(ETag),
                size,
                lastModified: timeOf(LastModified),
                versioned: isVersion(VersionId),
                length,
                body: bytesOf(Body),
              }
            } catch (error) {
              if (statusOf(error) === 304) return "unchanged"
              throw error
            }
          }),
        o,
      )
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
        return { etag: bare(ETag), versioned: isVersion(VersionId) }
      }, o)
    },

    head(key, o) {
      const command = new HeadObjectCommand({ Bucket: bucket, Key: key })
      return send(
        (options) =>
          unlessMissing(async () => {
            const { ETag, ContentLength, LastModified, VersionId } = await client.send(command, options)
            const lastModified = timeOf(LastModified)
            return { etag: bare(ETag), size: ContentLength ?? 0, lastModified, versioned: isVersion(VersionId) }
          }),
        o,
      )
    },

    list(prefix, o = {}) {
      const command = new ListObjectsV2Command({
        Bucket: bucket,
        Prefix: prefix,
        ...(o.after !== undefined && { ContinuationToken: o.after }),
      })
      return send(async (options) => {
        const { Contents = [], IsTruncated, NextContinuationToken } = await client.send(command, options)
        const objects = Contents.map(({ Key = "", ETag, Size = 0, LastModified }) => ({
          key: Key,
          etag: bare(ETag),
          size: Size,
          lastModified: timeOf(LastModified),
        }))
        return { objects, ...(IsTruncated === true && { next: NextContinuationToken ?? "" }) }
      }, o)
    },

    delete(key, o = {}) {
      const command = new DeleteObjectCommand({ Bucket: bucket, Key: key, ...conditionOf(o.condition) })
      return send(async (options) => {
        await client.send(command, options)
      }, o)
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

function bare(etag: string | undefined): string {
  return (etag ?? "").replace(/^W\//, "").replace(/^"|"$/g, "")
}

function timeOf(date: Date | undefined): number {
  return date?.getTime() ?? 0
}

/** Node's streams are iterable; web streams are not in every browser. */
async function* bytesOf(body: unknown): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    if (isIterable(body)) yield* body
    else yield* chunksOf((body as { transformToWebStream(): ReadableStream<Uint8Array> }).transformToWebStream())
  } catch (error) {
    throw toObjectStoreError(error)
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
