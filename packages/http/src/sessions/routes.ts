/** The routes of the session API as data, with the schemas of what they take and answer. */
import { isTooDeep, isUlid, MAX_ATTACHMENTS } from "@sessions/core/format"
import { messageSchema, sessionInfoSchema } from "@sessions/schema"
import * as z from "zod"
import type { Route } from "../routes.ts"
import { TEXT_UNITS, WAIT_SECONDS } from "../sizes.ts"
import type { NewPrompt, NewSession, SessionFilter } from "./types.ts"

const text = z.string().max(TEXT_UNITS)
const filled = text.min(1)
const ulid = z.string().refine(isUlid, "must be a ULID, in upper case").meta({ pattern: "^[0-9A-HJKMNP-TV-Z]{26}$" })
const count = z.int().min(0)
const pageLimit = z
  .string()
  .regex(/^(?:[1-9]\d?|1\d\d|200)$/, "must be a whole number from 1 to 200")
  .transform(Number)
const source = z.enum(["interactive", "cron"])
const modelRef = z.strictObject({ provider: filled, model: filled })
const attachment = z.strictObject({
  path: filled,
  mimeType: filled,
  filename: text.exactOptional(),
  size: count.exactOptional(),
})

export const newSession: z.ZodType<NewSession> = z.strictObject({
  title: text.exactOptional(),
  cwd: text.exactOptional(),
  source: source.exactOptional(),
  cronJobId: text.exactOptional(),
  systemPromptOverride: z.string().exactOptional(),
  parentSession: z
    .union([z.strictObject({ id: filled, entryId: text.exactOptional() }), z.strictObject({ ref: filled })])
    .exactOptional(),
  kind: filled.exactOptional(),
  metadata: z.record(filled, z.unknown()).exactOptional(),
})

export const newTitle: z.ZodType<{ readonly title: string | null }> = z.strictObject({ title: text.nullable() })

export const newPrompt: z.ZodType<NewPrompt> = z.strictObject({
  id: ulid.meta({ description: "Made by the client. The message has it as its id, and a repetition has no effect." }),
  text: z.string().min(1),
  model: modelRef.exactOptional(),
  attachments: z.array(attachment).max(MAX_ATTACHMENTS).exactOptional(),
})

/** A query; undefined for what the URL does not have. */
type Query<T> = z.ZodObject & z.ZodType<{ readonly [Name in keyof T]: T[Name] | undefined }>

export const listQuery: Query<Partial<SessionFilter>> = z.strictObject({
  limit: pageLimit.optional(),
  cursor: text.optional(),
  cwd: text.optional(),
  source: source.optional(),
  parent: text.optional(),
  kind: text.meta({ description: "Empty: only sessions without a kind." }).optional(),
  idPrefix: text.optional(),
  metadata: text
    .transform((json, context) => {
      try {
        const value: unknown = isTooDeep(json) ? undefined : JSON.parse(json)
        if (typeof value === "object" && value !== null && !Array.isArray(value))
          return value as Record<string, unknown>
      } catch {
        // It is said below.
      }
      context.addIssue({ code: "custom", message: "must be an object of JSON" })
      return z.NEVER
    })
    .meta({ description: "An object as JSON: only sessions whose metadata has these keys with equal values." })
    .optional(),
})

export const loadQuery: Query<{ before?: string; limit?: number }> = z.strictObject({
  before: text.optional(),
  limit: pageLimit.optional(),
})

export const contextQuery: Query<{ window?: number }> = z.strictObject({
  window: z
    .string()
    .regex(/^[1-9]\d{0,8}$/, "must be a number of tokens")
    .transform(Number)
    .optional(),
})

export const eventsQuery: Query<{ after?: string; wait?: number; queue?: string }> = z.strictObject({
  after: text.meta({ description: "The id of the last event; `Last-Event-ID` says the same." }).optional(),
  wait: z
    .string()
    .regex(/^(?:\d|[1-5]\d|60)$/, `must be a number of seconds, at most ${WAIT_SECONDS}`)
    .transform(Number)
    .meta({ description: "Answers one page of events as JSON, after at most this many seconds. Default: a stream." })
    .optional(),
  queue: text.meta({ description: "`queue` of the last state: a page comes at once if it has changed." }).optional(),
})

const error = z.looseObject({ code: z.string(), message: z.string() })
const waiting = {
  messageId: ulid,
  text: z.string(),
  model: modelRef.exactOptional(),
  attachments: z.array(attachment).exactOptional(),
  at: z.string().meta({ description: "ISO 8601, when the server took it." }),
}
const head = z.strictObject({ log: z.string(), next: count })
const endedTurn = z.looseObject({ messageId: ulid, error: error.exactOptional() })

/** The data of the events that a client may rely on; `docs/http.md` describes all of them. */
export const sessionState: z.ZodType = z
  .looseObject({
    head,
    leaf: z.string().nullable(),
    running: z.looseObject(waiting).exactOptional(),
    queued: z.array(z.looseObject(waiting)),
    ended: z.array(endedTurn),
    queue: z.string(),
  })
  .meta({ title: "The state of a session: the first event of each connection" })

// With an id, a schema is a component of the OpenAPI document, named in each place.
const info = sessionInfoSchema.meta({ ...sessionInfoSchema.meta(), id: "SessionInfo" })
const message = messageSchema.meta({ ...messageSchema.meta(), id: "Message" })
const cursor = z.string().meta({
  description:
    "`<log>~<mark>.<next>.<turn>`: a place in the log, and the last turn that had ended. `load` gives no mark.",
})

const loaded = z.looseObject({
  info,
  messages: z.array(z.looseObject({ entryId: z.string(), seq: count, timestamp: z.string(), message })),
  before: z.string().exactOptional(),
  cursor,
})

const context = z.looseObject({
  messages: z.array(z.looseObject({ entryId: z.string(), kind: z.string(), message })),
  tokens: z.number(),
  reused: z.looseObject({
    tokens: z.number(),
    brokenBy: z.looseObject({ entryId: z.string(), reason: z.string() }).exactOptional(),
  }),
  fits: z.boolean().exactOptional(),
  diagnostics: z.array(z.looseObject({ code: z.string(), message: z.string() })),
})

const list = z.looseObject({
  sessions: z.array(info),
  next: z.string().exactOptional(),
  unreadable: z.array(z.looseObject({ id: z.string(), error })),
})

const promptAnswer = z.looseObject({ messageId: ulid, position: count.nullable() })

const eventPage = z.looseObject({
  events: z.array(z.looseObject({ event: z.string(), cursor, data: z.looseObject({}) })),
  cursor,
})

/** What `authorize` is asked for. */
export type SessionAction = "create" | "list" | "load" | "context" | "rename" | "delete" | "prompt" | "stop" | "events"

export interface SessionRoute extends Route {
  readonly action: SessionAction
}

const SESSION = "/sessions/:session"

/** Every call of the session API. */
export const sessionRoutes: readonly SessionRoute[] = [
  {
    action: "create",
    method: "POST",
    path: "/sessions",
    summary: "Creates a session; the server makes its id.",
    body: { description: "The fields of the new session.", schema: newSession },
    answers: { 201: { description: "It is stored.", schema: z.looseObject({ id: z.string(), info }) } },
  },
  {
    action: "list",
    method: "GET",
    path: "/sessions",
    summary: "Lists sessions, newest message first.",
    query: listQuery,
    answers: { 200: { description: "A page.", schema: list } },
  },
  {
    action: "load",
    method: "GET",
    path: SESSION,
    summary: "The information and a page of messages, the newest first.",
    query: loadQuery,
    answers: { 200: { description: "Messages, oldest first within the page.", schema: loaded } },
  },
  {
    action: "context",
    method: "GET",
    path: `${SESSION}/context`,
    summary: "The context that a model gets.",
    query: contextQuery,
    answers: { 200: { description: "The context.", schema: context } },
  },
  {
    action: "rename",
    method: "PATCH",
    path: SESSION,
    summary: "Sets the title; null removes it.",
    body: { description: "The title.", schema: newTitle },
    answers: { 200: { description: "The information with the new title.", schema: z.looseObject({ info }) } },
  },
  {
    action: "delete",
    method: "DELETE",
    path: SESSION,
    summary: "Stops the running turn, drops the queue and deletes the session.",
    answers: {
      200: {
        description: "It is deleted. `purged: false`: bytes are left; repeat the call.",
        schema: z.looseObject({ id: z.string(), parts: count, bytes: count, purged: z.boolean() }),
      },
    },
  },
  {
    action: "prompt",
    method: "POST",
    path: `${SESSION}/prompts`,
    summary: "Queues a prompt, which runs as a turn of its own.",
    body: { description: "The prompt.", schema: newPrompt },
    answers: {
      200: { description: "This prompt was sent before.", schema: promptAnswer },
      202: { description: "It is stored, and will run.", schema: promptAnswer },
    },
  },
  {
    action: "stop",
    method: "DELETE",
    path: `${SESSION}/prompts/:message`,
    summary: "Takes a prompt from the queue, or stops its turn.",
    answers: {
      202: {
        description: "Whether it waited, ran or had ended.",
        schema: z.looseObject({ messageId: ulid, was: z.enum(["queued", "running", "ended"]) }),
      },
    },
  },
  {
    action: "events",
    method: "GET",
    path: `${SESSION}/events`,
    summary: "Events as they happen, with those of the log since `after`: a stream, or with `wait` one page.",
    query: eventsQuery,
    answers: {
      200: { description: "With `wait`: a page of events. Without: server-sent events.", schema: eventPage },
    },
  },
]
