/** What clients called and what they were answered, on one session and its storage's documents: the input of the checker. */

/** Times are by one clock, which all clients share, in any unit. */
export interface Interval {
  /** Not later than the beginning of the call. */
  readonly start: number
  /** Not earlier than its end. Infinity for a call without an answer, e.g. of a process that was killed. */
  readonly end: number
}

/** The code of the error that a call rejected with. */
export interface Failed {
  readonly code: string
  /** With `aborted`: the write had been sent. */
  readonly sent?: boolean
  readonly message?: string
}

interface Called extends Interval {
  /** The name of the client. */
  readonly by: string
}

/** Lines are named by ids, each of which is appended at most once in a history. */
export interface Append extends Called {
  readonly kind: "append"
  /** `next` of the expected head; 0 for a creation. */
  readonly expect: number
  /** The log of the expected head. */
  readonly log?: string
  readonly lines: readonly string[]
  readonly answer?: { readonly next: number; readonly log: string } | Failed
}

/** A replace of the log by these lines. */
export interface Replace extends Called {
  readonly kind: "replace"
  readonly expect: number
  readonly log: string
  readonly lines: readonly string[]
  readonly answer?: { readonly next: number; readonly log: string } | Failed
}

/** A delete of the session, or of nothing. */
export interface Delete extends Called {
  readonly kind: "delete"
  readonly answer?: { readonly deleted: true } | Failed
}

/** `head`, or the row of the session in `list`. A missing session has `next: 0`. */
export interface Look extends Called {
  readonly kind: "head" | "list"
  readonly answer?: { readonly next: number; readonly log?: string; readonly bytes?: number } | Failed
}

/** A read to the end of the log. */
export interface Read extends Called {
  readonly kind: "read"
  /** The log that was asked for; missing for whichever there is. */
  readonly log?: string
  readonly answer?: { readonly from: number; readonly lines: readonly string[] } | Failed
}

/** Values of a document are named by ids, each of which is put at most once in a history. */
export interface Put extends Called {
  readonly kind: "put"
  readonly key: string
  readonly expect: string | null
  readonly value: string
  readonly answer?: { readonly put: true } | Failed
}

export interface Get extends Called {
  readonly kind: "get"
  readonly key: string
  readonly answer?: { readonly value: string | null } | Failed
}

export type LogOperation = Append | Look | Read
export type DocumentOperation = Put | Get
/** A call that ends a log. */
export type Reset = Replace | Delete
export type Operation = LogOperation | DocumentOperation | Reset

export interface Log {
  /** The identity in the heads of the log. */
  readonly identity: string
  /** Without `bytes`, the bytes in heads are not checked. */
  readonly lines: readonly { readonly id: string; readonly bytes?: number }[]
}

/** The operations, and what was there when all of them had ended. */
export interface History {
  /** `capabilities.atomicBatch` of the storage. */
  readonly atomicBatch: "all" | "prefix"
  readonly log: Log
  /** The last value of each document. */
  readonly documents: Readonly<Record<string, string | null>>
  readonly operations: readonly Operation[]
}

/** Whether the effect of a write is open: it has no answer, or one that says so. */
export function isUnknown(answer: object | undefined): boolean {
  if (answer === undefined) return true
  const { code, sent } = answer as Partial<Failed>
  return code === "indeterminate" || (code === "aborted" && sent === true)
}

export function isFailed(answer: object | undefined): answer is Failed {
  return answer !== undefined && "code" in answer
}

/** One operation in a sentence about it. */
export function nameOf(operation: Operation): string {
  const { kind, by, start, end } = operation
  const what =
    kind === "append" || kind === "replace"
      ? `${kind} of ${operation.lines.join(", ")} behind ${operation.expect}`
      : kind === "put"
        ? `put of ${operation.value} behind ${operation.expect}`
        : kind
  return `${what} by ${by} [${round(start)}, ${round(end)}]`
}

/** A sentence about an operation that was rejected, with the message for the reader. */
export function rejectionOf(operation: Operation, { code, message }: Failed): string {
  return `${nameOf(operation)} was rejected with ${code}${message === undefined ? "" : `: ${message}`}`
}

function round(time: number): number {
  return Math.round(time * 1_000) / 1_000
}
