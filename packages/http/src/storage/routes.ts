/** The routes of a storage, as data: what the handler serves and the OpenAPI document says. */
import * as z from "zod"
import type { Route } from "../routes.ts"
import { appendHead } from "./append.ts"
import { documentChange } from "./documents.ts"
import { BLOB_TYPE, LINES_TYPE, PAGE_BYTES } from "./protocol.ts"

const whole = z
  .string()
  .regex(/^\d{1,16}$/)
  .transform(Number)
  .refine(Number.isSafeInteger, "must be a safe integer")
const positive = whole.refine((n) => n > 0, "must be above 0")
const text = z.string()

const head = z.object({ next: z.int(), log: z.string() })
const headInfo = z.object({
  ...head.shape,
  mark: z.int().optional(),
  bytes: z.int(),
  updatedAt: z.number().meta({ description: "Milliseconds since the epoch." }),
  parts: z.array(z.object({ from: z.int(), bytes: z.int() })).optional(),
  info: z.object({ text: z.string(), next: z.int() }).optional(),
  torn: z.int().optional(),
  first: z.string().optional(),
})

export const capabilities = z.object({
  durability: z.enum(["none", "os", "disk", "replicated"]),
  atomicBatch: z.enum(["all", "prefix"]),
  writers: z.literal("any"),
  listOrder: z.enum(["updatedAt", "id"]),
  sync: z.boolean(),
  watch: z.boolean(),
  replace: z.literal(false),
  deleteIf: z.boolean().optional(),
  maxLineBytes: z.int(),
  maxBatchBytes: z.int(),
  maxSessionBytes: z.int(),
})

export const listQuery = z.strictObject({ after: text.optional(), limit: whole.optional() })
export const deleteQuery = z
  .strictObject({ next: positive.optional(), log: text.optional(), mark: whole.optional() })
  .refine((query) => (query.next === undefined) === (query.log === undefined), "`next` and `log` come together")
export const sweepQuery = z.strictObject({ dryRun: z.literal("true").optional() })
export const headQuery = z.strictObject({ first: z.literal("true").optional() })
// Of the line before those in the body. Not in the body: handlers of older versions refuse a field there, and ignore this.
export const appendQuery = z.object({ mark: whole.optional() })
export const linesQuery = z.strictObject({
  from: whole.optional(),
  to: whole.optional(),
  before: whole.optional(),
  maxBytes: positive.optional(),
  log: text.optional(),
  pageBytes: positive.default(PAGE_BYTES),
})
export const documentsQuery = z.strictObject({ prefix: text.optional() })
export const blobQuery = z.strictObject({ ifPutBefore: whole.optional() })

const rows = 'Rows of JSON. The last one is {"end":true}, or an error; without it the list was cut off.'
const document = {
  description: "The text; null if there is no document.",
  schema: z.object({ text: z.string().nullable() }),
}
const change = { description: "The texts before and after the change; null: no document.", schema: documentChange }

/** A body that only the handler writes: a status alone proves nothing. */
const done = (description: string) => ({ description, schema: z.object({ done: z.literal(true) }) })

export const storageRoutes = [
  {
    action: "capabilities",
    method: "GET",
    path: "/capabilities",
    summary: "What the storage supports and guarantees",
    answers: { 200: { description: "The capabilities.", schema: capabilities } },
  },
  {
    action: "list",
    method: "GET",
    path: "/sessions",
    summary: "List the sessions",
    query: listQuery,
    answers: { 200: { description: rows, type: LINES_TYPE } },
  },
  {
    action: "delete",
    method: "DELETE",
    path: "/sessions/:session",
    summary: "Delete a session and its documents, with `next` and `log` only if the log ends there",
    query: deleteQuery,
    answers: {
      200: {
        description: "What was removed.",
        schema: z.object({ bytes: z.int(), parts: z.int(), purged: z.boolean() }),
      },
    },
  },
  {
    action: "head",
    method: "GET",
    path: "/sessions/:session/head",
    summary: "The end of a log",
    query: headQuery,
    answers: {
      200: { description: "The head; null if there is no session.", schema: z.object({ head: headInfo.nullable() }) },
    },
  },
  {
    action: "read",
    method: "GET",
    path: "/sessions/:session/lines",
    summary: "A page of lines",
    query: linesQuery,
    answers: { 200: { description: "A line of JSON, {from, lines, end, log}, then the lines.", type: LINES_TYPE } },
  },
  {
    action: "append",
    method: "POST",
    path: "/sessions/:session/lines",
    summary: "Append lines behind the expected head, with `mark` only if its line has this mark",
    query: appendQuery,
    body: { description: "This as a line of JSON, then the lines.", type: LINES_TYPE, schema: appendHead },
    answers: { 200: { description: "The new head.", schema: head } },
  },
  {
    action: "sync",
    method: "POST",
    path: "/sessions/:session/sync",
    summary: "Wait until what was acknowledged is on stable storage",
    answers: { 200: done("It is.") },
  },
  {
    action: "watch",
    method: "GET",
    path: "/sessions/:session/watch",
    summary: "Be told when a log changes",
    answers: {
      200: {
        description: "Events: `head` at the beginning and after each change, `deleted` when the session is gone.",
        type: "text/event-stream",
      },
    },
  },
  {
    action: "readSessionDocument",
    method: "GET",
    path: "/sessions/:session/docs/:name",
    summary: "A document of a session",
    answers: { 200: document },
  },
  {
    action: "changeSessionDocument",
    method: "PUT",
    path: "/sessions/:session/docs/:name",
    summary: "Change a document of a session, if it is what the client expects",
    body: change,
    answers: { 200: done("It was changed.") },
  },
  {
    action: "sweep",
    method: "POST",
    path: "/sweep",
    summary: "Remove what deletions, replacements and interrupted writes left",
    query: sweepQuery,
    answers: {
      200: {
        description: "How much was removed, or with `dryRun` would be.",
        schema: z.object({ removed: z.int(), bytes: z.int(), left: z.int() }),
      },
    },
  },
  {
    action: "listDocuments",
    method: "GET",
    path: "/docs",
    summary: "List the keys of documents",
    query: documentsQuery,
    answers: { 200: { description: rows, type: LINES_TYPE } },
  },
  {
    action: "readDocument",
    method: "GET",
    path: "/docs/:name",
    summary: "A document beside the sessions",
    answers: { 200: document },
  },
  {
    action: "changeDocument",
    method: "PUT",
    path: "/docs/:name",
    summary: "Change a document, if it is what the client expects",
    body: change,
    answers: { 200: done("It was changed.") },
  },
  {
    action: "listBlobs",
    method: "GET",
    path: "/blobs",
    summary: "List the blobs",
    answers: { 200: { description: rows, type: LINES_TYPE } },
  },
  {
    action: "readBlob",
    method: "GET",
    path: "/blobs/:hash",
    summary: "The bytes of a blob",
    answers: {
      200: { description: "The bytes, with the hash as ETag.", type: BLOB_TYPE },
      304: { description: "Unchanged." },
    },
  },
  {
    action: "findBlob",
    method: "GET",
    path: "/blobs/:hash/exists",
    summary: "Whether there is a blob",
    answers: { 200: { description: "Whether there is.", schema: z.object({ exists: z.boolean() }) } },
  },
  {
    action: "putBlob",
    method: "PUT",
    path: "/blobs/:hash",
    summary: "Store a blob under the SHA-256 of its bytes",
    body: { description: "The bytes.", type: BLOB_TYPE },
    answers: { 200: done("It is stored.") },
  },
  {
    action: "deleteBlob",
    method: "DELETE",
    path: "/blobs/:hash",
    summary: "Delete a blob",
    query: blobQuery,
    answers: { 200: { description: "Whether one was removed.", schema: z.object({ deleted: z.boolean() }) } },
  },
] as const satisfies readonly Route[]
