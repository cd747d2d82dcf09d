/** Errors of the driver and the server: whether a statement took effect, and what a caller is told. */
import { type Call, hasStorageCode, StorageError } from "@sessions/core/storage"
import { failureOf } from "./failures.ts"

/** The server or the network ended before the answer to a statement arrived: it may have taken effect, or may still do so. */
export class UnknownOutcome extends Error {
  override readonly name = "UnknownOutcome"
  constructor(cause: unknown) {
    super(textOf(cause), { cause })
  }
}

/** The answer did not come within the limit. It may still come, and the connection is not used again. */
export class TimedOut extends UnknownOutcome {}

/** The commit was done on the primary, and its wait for the standby was ended: the primary cannot tell whether the standby has it. */
export class Unconfirmed extends Error {
  override readonly name = "Unconfirmed"
}

/** No connection was available, so nothing was sent. */
export class NotSent extends Error {
  override readonly name = "NotSent"
  constructor(cause: unknown) {
    super(textOf(cause), { cause })
  }
}

/** The connection that the pool gave had ended. Nothing was sent, and the pool makes another one. */
export class Ended extends NotSent {
  constructor(cause: unknown) {
    super(cause)
    this.message = `a connection of the pool has ended (${this.message})`
  }
}

/**
 * The outcome of a statement that failed. `refused`: it had no effect and never will. `again`: the same, and it may succeed at once
 * (serialization failure, deadlock, another connection). `unknown`: the connection is not usable any more, and nobody knows whether it was committed.
 */
export type Outcome = "refused" | "again" | "unknown"

export function outcomeOf(error: unknown): Outcome {
  if (error instanceof Ended) return "again"
  if (error instanceof NotSent || error instanceof StorageError) return "refused"
  if (error instanceof UnknownOutcome || error instanceof Unconfirmed) return "unknown"
  if (isUnused(error)) return "refused"
  const { code, severity, file } = error as ServerError
  // Only an error of the server has an SQLSTATE; those of sockets have codes such as ECONNRESET.
  if (typeof code !== "string" || !/^[0-9A-Z]{5}$/.test(code) || severity === undefined) return "unknown"
  // A session that ends may have been at its commit. Errors that write-ahead logging reports end the whole server.
  if (severity === "FATAL" || severity === "PANIC" || file?.startsWith("xlog") === true) return "unknown"
  // Connection and transaction resolution, operator intervention except a cancelled query, and errors inside the server.
  if (/^(08|40003|57P|58|XX0)/.test(code)) return "unknown"
  return code === "40001" || code === "40P01" ? "again" : "refused"
}

/** Whether the driver has refused to use a client that has ended: it sends nothing. */
export function isUnused(error: unknown): boolean {
  const { message } = error as ServerError
  return typeof message === "string" && message.endsWith("is not queryable")
}

interface ServerError {
  readonly code?: unknown
  readonly severity?: unknown
  readonly file?: string
  readonly message?: unknown
}

/**
 * Asks what the statement or transaction has done whose answer was `lost`. If the server cannot be asked, that stays unknown: the question
 * was refused, not the write. Only a conflict answers it, since a repeat finds one where the first attempt has changed nothing.
 */
export async function settle<T>(lost: UnknownOutcome, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    throw error instanceof Unconfirmed || hasStorageCode(error, "conflict") ? error : lost
  }
}

/** The SQLSTATE of an error of the server, also behind {@link NotSent} and {@link UnknownOutcome}. */
export function sqlState(error: unknown): string | undefined {
  const cause = error instanceof NotSent || error instanceof UnknownOutcome ? error.cause : error
  const { code } = (cause ?? {}) as ServerError
  return typeof code === "string" ? code : undefined
}

/**
 * Whether the server does not know a prepared statement, or knows it already, both without an effect: a connection pooler gives each
 * transaction another connection of the server, or the pool runs DISCARD ALL.
 */
export function isMisplaced(error: unknown): boolean {
  const state = sqlState(error)
  return state === "26000" || state === "42P05"
}

export function toError(error: unknown, { doing, writes }: Call): StorageError {
  const state = sqlState(error)
  if (error instanceof UnknownOutcome && writes === true) {
    const message = `The answer was lost while trying to ${doing} (${error.message}), and the server could not be asked again; read to see whether it was done.`
    return new StorageError("indeterminate", message, { cause: error.cause })
  }
  if (error instanceof Unconfirmed) {
    const message = `The standby has not confirmed the attempt to ${doing}, which was done on the primary; after a failover, read to see whether it is still there.`
    return new StorageError("indeterminate", message, { cause: error })
  }
  const known = failureOf(state, textOf(error))
  const act = known?.act ?? "is the server running and reachable? Repeat the call"
  return new StorageError(known?.code ?? "unavailable", `Could not ${doing}: ${textOf(error)}; ${act}.`, {
    cause: error,
  })
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // A connection to several addresses of a host fails with an AggregateError whose own message is empty.
  const { errors } = error as { errors?: readonly unknown[] }
  return error.message !== "" || errors === undefined ? error.message : errors.map(textOf).join(", ")
}
