/**
 * Stands for a bucket: `createBucketClient()` has the `send` of an `S3Client` of `@aws-sdk/client-s3`, with conditional writes, and keeps the
 * objects in memory. It takes Get, Put, Head, Delete and ListObjectsV2.
 */
import { createHash } from "node:crypto"

export function createBucketClient(objects = new Map()) {
  const actions = {
    GetObjectCommand({ Key, Range, IfNoneMatch }) {
      const found = objects.get(Key) ?? fail(404, "NoSuchKey")
      if (IfNoneMatch !== undefined && IfNoneMatch === found.ETag) fail(304, "NotModified")
      const size = found.bytes.length
      const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(Range ?? "bytes=0-")
      if (Range !== undefined && Number(from) >= size) fail(416, "InvalidRange")
      const last = Math.min(to === "" ? size - 1 : Number(to), size - 1)
      const bytes = found.bytes.slice(Number(from), last + 1)
      const body = (async function* () {
        yield bytes
      })()
      const range = Range === undefined ? {} : { ContentRange: `bytes ${from}-${last}/${size}` }
      return { Body: body, ETag: found.ETag, LastModified: found.LastModified, ContentLength: bytes.length, ...range }
    },
    PutObjectCommand({ Key, Body, IfNoneMatch, IfMatch }) {
      check(Key, IfNoneMatch, IfMatch)
      const bytes = Uint8Array.from(typeof Body === "string" ? Buffer.from(Body) : Body)
      const ETag = `"${createHash("md5").update(bytes).digest("hex")}"`
      objects.set(Key, { bytes, ETag, LastModified: new Date() })
      return { ETag }
    },
    HeadObjectCommand({ Key }) {
      const { bytes, ETag, LastModified } = objects.get(Key) ?? fail(404, "NotFound")
      return { ETag, LastModified, ContentLength: bytes.length }
    },
    DeleteObjectCommand({ Key, IfMatch }) {
      if (IfMatch !== undefined) check(Key, undefined, IfMatch)
      objects.delete(Key)
      return {}
    },
    ListObjectsV2Command({ Prefix = "", ContinuationToken = "" }) {
      const keys = [...objects.keys()].filter((key) => key.startsWith(Prefix) && key > ContinuationToken).sort()
      const Contents = keys.slice(0, 1000).map((Key) => {
        const { bytes, ETag, LastModified } = objects.get(Key)
        return { Key, ETag, Size: bytes.length, LastModified }
      })
      const more = keys.length > 1000 ? { IsTruncated: true, NextContinuationToken: keys[999] } : {}
      return { Contents, IsTruncated: false, ...more }
    },
  }

  function check(key, ifNoneMatch, ifMatch) {
    const found = objects.get(key)
    if (ifNoneMatch === "*" && found !== undefined) fail(412, "PreconditionFailed")
    if (ifMatch !== undefined && ifMatch !== found?.ETag) fail(412, "PreconditionFailed")
  }

  return {
    objects,
    async send(command) {
      await new Promise((resolve) => setImmediate(resolve))
      const action = actions[command.constructor.name] ?? fail(501, "NotImplemented")
      return { $metadata: { httpStatusCode: 200, attempts: 1 }, ...action(command.input) }
    },
  }
}

function fail(httpStatusCode, name) {
  throw Object.assign(new Error(name), { name, $metadata: { httpStatusCode, attempts: 1 } })
}
