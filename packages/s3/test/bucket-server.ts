/** Speaks the protocol of S3 for a bucket in memory: what the adapter's five requests need. */
import { ObjectStoreError, type PutCondition } from "../src/index.ts"
import type { FakeBucket } from "./fake-bucket.ts"

/** Answers a request for `/bucket/key` or for a list of `/bucket`. */
export async function serveBucket(bucket: FakeBucket, url: string, init: RequestInit): Promise<Response> {
  const { pathname, searchParams } = new URL(url)
  const [, , ...parts] = pathname.split("/")
  const key = decodeURIComponent(parts.join("/"))
  const headers = new Headers(init.headers)
  const ids = { "x-amz-request-id": "request" }
  try {
    if (key === "") return listAnswer(bucket, searchParams, ids)
    if (init.method === "PUT") {
      const bytes = new Uint8Array(await new Response(init.body ?? null).arrayBuffer())
      const { etag } = bucket.put(key, bytes, conditionOf(headers))
      return new Response("", { headers: { ...ids, etag: `"${etag}"` } })
    }
    if (init.method === "DELETE") {
      bucket.remove(key, conditionOf(headers))
      return new Response(null, { status: 204, headers: ids })
    }
    return objectAnswer(bucket, key, { headers, isHead: init.method === "HEAD", ids })
  } catch (error) {
    if (!(error instanceof ObjectStoreError)) throw error
    return errorAnswer(412, "PreconditionFailed", ids)
  }
}

function conditionOf(headers: Headers): Extract<PutCondition, { kind: "match" }> {
  const etag = headers.get("if-match")
  if (headers.get("if-none-match") === "*") return { kind: "absent" } as never
  return (etag === null ? undefined : { kind: "match", etag: etag.replaceAll('"', ""), form: "quoted" }) as never
}

type Ids = Readonly<Record<string, string>>

function objectAnswer(
  bucket: FakeBucket,
  key: string,
  { headers, isHead, ids }: { readonly headers: Headers; readonly isHead: boolean; readonly ids: Ids },
): Response {
  const found = bucket.objects.get(key)
  if (found === undefined) return isHead ? new Response(null, { status: 404 }) : errorAnswer(404, "NoSuchKey", ids)
  const etag = `"${found.etag}"`
  if (headers.get("if-none-match") === etag) return new Response(null, { status: 304, headers: { ...ids, etag } })
  const [, from = "0", to = ""] = /^bytes=(\d+)-(\d*)$/.exec(headers.get("range") ?? "") ?? []
  if (Number(from) > 0 && Number(from) >= found.size) return errorAnswer(416, "InvalidRange", ids)
  const bytes = found.bytes.slice(Number(from), to === "" ? undefined : Number(to) + 1)
  const isPart = headers.has("range")
  return new Response(isHead ? null : bytes, {
    status: isPart ? 206 : 200,
    headers: {
      ...ids,
      etag,
      "last-modified": new Date(found.lastModified).toUTCString(),
      "content-length": String(bytes.length),
      ...(isPart && { "content-range": `bytes ${from}-${Number(from) + bytes.length - 1}/${found.size}` }),
    },
  })
}

function listAnswer(bucket: FakeBucket, query: URLSearchParams, ids: Ids): Response {
  const { objects, next } = bucket.list(query.get("prefix") ?? "", query.get("continuation-token") ?? "")
  const rows = objects.map(({ key, size, etag, lastModified }) => {
    const time = new Date(lastModified).toISOString()
    return `<Contents><Key>${key}</Key><Size>${size}</Size><ETag>"${etag}"</ETag><LastModified>${time}</LastModified></Contents>`
  })
  const more = next === undefined ? "" : `<NextContinuationToken>${next}</NextContinuationToken>`
  return xml(
    200,
    `<ListBucketResult><IsTruncated>${next !== undefined}</IsTruncated>${more}${rows.join("")}</ListBucketResult>`,
    ids,
  )
}

function errorAnswer(status: number, code: string, ids: Ids): Response {
  return xml(status, `<Error><Code>${code}</Code><Message>said so</Message></Error>`, ids)
}

function xml(status: number, body: string, ids: Ids): Response {
  const headers = { ...ids, "content-type": "application/xml" }
  return new Response(`<?xml version="1.0" encoding="UTF-8"?>${body}`, { status, headers })
}
