/**
 * The header of a log, version 4: its first line. Type, and checks as in `entry.ts`. Unknown fields pass, and are kept whenever a header
 * is read, copied or written. `docs/format.md` describes the meaning of each field.
 */
import { isSessionId } from "../storage/checks.ts"
import {
  all,
  arrayOf,
  type Check,
  isCount,
  isNonEmpty,
  isNumber,
  isString,
  oneOf,
  optional,
  optionalFields,
  sentence,
  shape,
} from "./shape.ts"

export const FORMAT = "@sessions"
export const VERSION = 4

/** The session that this one was forked from: `id` and the entry for one of ours, `ref` for the text that another system wrote. */
export type ParentSession = { readonly id: string; readonly entryId?: string } | { readonly ref: string }

/** The log that this one was imported, migrated or forked from. */
export interface Origin {
  /** The system, e.g. `@sessions`, `pi`, `oh-my-pi`. */
  readonly format: string
  readonly version: number
  /** The session's id in that system. */
  readonly id?: string
  /** The expected number of lines, header included, if the log was written in several batches. */
  readonly lines?: number
  /** The number of lines, header included, that came from a system whose branches leave no `leaf` entry. */
  readonly settled?: number
  /** The log before its migration: blobs whose bytes, joined, are the old file. */
  readonly backup?: { readonly blobs: readonly string[]; readonly bytes: number }
}

export interface Header {
  readonly type: "session"
  readonly format: typeof FORMAT
  readonly version: typeof VERSION
  readonly id: string
  /** ISO 8601. */
  readonly timestamp: string
  /** Which creation this is the log of: copies have the same, a session that was created apart, under whatever id, another. */
  readonly creation?: string
  readonly cwd?: string
  readonly title?: string
  readonly source?: "interactive" | "cron"
  /** Which program's sessions this is one of, e.g. `langgraph`. Missing: a session that a person works in. */
  readonly kind?: string
  readonly cronJobId?: string
  readonly parentSession?: ParentSession
  readonly systemPromptOverride?: string
  readonly origin?: Origin
  readonly [key: string]: unknown
}

/** Whether a record is a valid header of this version. */
export function isHeader(record: unknown): record is Header {
  return header(record) === undefined
}

export function headerProblem(record: unknown): string | undefined {
  return sentence("The header", header(record))
}

const ourParent: Check = shape({ id: isString, entryId: optional(isString) })
const foreignParent: Check = shape({ ref: isString })

/** The fields that the program gives that creates the session, in the order of the line. */
export const GIVEN_FIELDS: Readonly<
  Record<"cwd" | "title" | "source" | "kind" | "cronJobId" | "systemPromptOverride" | "parentSession", Check>
> = {
  cwd: isString,
  title: isString,
  source: oneOf("interactive", "cron"),
  kind: isNonEmpty,
  cronJobId: isString,
  systemPromptOverride: isString,
  parentSession: (value) =>
    ourParent(value) === undefined || foreignParent(value) === undefined
      ? undefined
      : " must be {id, entryId?} or {ref}.",
}

const header: Check = all(
  shape({
    type: oneOf("session"),
    format: oneOf(FORMAT),
    version: oneOf(VERSION),
    id: (value) => (isSessionId(value) ? undefined : " must be a session id."),
    timestamp: isString,
    creation: optional(isNonEmpty),
    origin: optional(
      shape({
        format: isString,
        version: isNumber,
        id: optional(isString),
        lines: optional(isCount),
        settled: optional(isCount),
        backup: optional(shape({ blobs: arrayOf(isString), bytes: isCount })),
      }),
    ),
  }),
  optionalFields(GIVEN_FIELDS),
)
