/** Translates failures of the store to errors of the storage contract, with a sentence that says what to do. */
import { type Failure, StorageError, type StorageErrorCode } from "@sessions/core/storage"
import type { Deps } from "../base/deps.ts"
import { FAILURES } from "../failures.ts"
import { ObjectStoreError } from "../object-store/object-store.ts"
import { ObjectChangedError } from "./open-object.ts"

export interface ErrorLocation {
  readonly session?: string | undefined
  /** The key. */
  readonly at?: string | undefined
}

/** `action` completes the sentence "Could not …". */
export function toStorageError(deps: Deps, error: unknown, action: string, location: ErrorLocation = {}): StorageError {
  if (error instanceof StorageError) return error
  if (error instanceof ObjectChangedError) {
    const message = `Could not ${action}: the object changed during each attempt to read it. Try again.`
    return storageError(deps, "unavailable", message, location)
  }
  const { code, act } = ROWS.get(error instanceof ObjectStoreError ? error.failure : "refused") as Failure
  const reason = error instanceof Error ? error.message : String(error)
  const at = location.at ?? deps.description
  return storageError(deps, code, `Could not ${action} at ${at} (${reason}): ${act}.`, location, error)
}

export function storageError(
  deps: Deps,
  code: StorageErrorCode,
  message: string,
  { session, at }: ErrorLocation = {},
  cause?: unknown,
): StorageError {
  return new StorageError(code, message, {
    storage: deps.description,
    ...(session !== undefined && { session }),
    ...(at !== undefined && { at }),
    cause,
  })
}

const ROWS: ReadonlyMap<string, Failure> = new Map(FAILURES.map((row) => [row.when, row]))
