/** Sessions in one storage, and their logs as texts. */
import { createMemoryStorage } from "@sessions/memory"
import { createSessions } from "../src/session/repository.ts"
import type { SessionsOptions, Sessions } from "../src/session/repository-types.ts"
import type { SessionStorage } from "../src/storage/contract.ts"
import { piLogs } from "../src/transfer/migrate/index.ts"

/** A storage with small batches, so that a short log is written in several. */
export function smallBatches(maxBatchBytes = 1_000, more: { readonly maxSessionBytes?: number } = {}): SessionStorage {
  return createMemoryStorage({ limits: { maxBatchBytes, maxLineBytes: maxBatchBytes - 1, ...more } })
}

/** Sessions, also in logs of older versions. */
export function sessionsIn(
  storage: SessionStorage = createMemoryStorage(),
  o: Omit<SessionsOptions, "storage"> = {},
): Sessions {
  return createSessions({ readers: [piLogs], ...o, storage })
}

export async function textOf(pieces: AsyncIterable<string>): Promise<string> {
  let text = ""
  for await (const piece of pieces) text += piece
  return text
}

export async function linesIn(storage: SessionStorage, id: string): Promise<string[]> {
  const lines: string[] = []
  for await (const chunk of storage.read(id)) lines.push(...chunk.lines)
  return lines
}

/** The code that a promise rejects with; fails if it resolves. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => new Error("It did not reject."),
    (thrown: unknown) => thrown as Error & { code?: string },
  )
  return (error as { code?: string }).code ?? `no code: ${String(error)}`
}

export function bytesOf(...parts: readonly (string | readonly number[])[]): Uint8Array {
  const encoder = new TextEncoder()
  return Uint8Array.from(parts.flatMap((part) => (typeof part === "string" ? [...encoder.encode(part)] : [...part])))
}
