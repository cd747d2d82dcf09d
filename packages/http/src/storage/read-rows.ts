/** Reads a list: rows of JSON, of which the last one says that the list is whole. */
import { StorageError } from "@sessions/core/storage"
import type { SentError } from "../provenance.ts"
import { LAST_ROW } from "./protocol.ts"
import type { Ask, Requests } from "./requests.ts"

/** Pages of rows as they arrive. Rejects with `unavailable` if the list is cut off. */
export async function* readRows<T extends object | string>(
  requests: Requests,
  ask: Ask,
): AsyncGenerator<readonly T[], void, undefined> {
  const response = await requests.stream(ask)
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const decoder = new TextDecoder("utf-8", { fatal: true })
  /** The row that has not ended, in pieces: each is looked at once, however long the row is. */
  let rest: string[] = []
  try {
    for (;;) {
      const { done, value } = await withinTime(reader.read(), requests.timeout)
      if (done) throw cutOffError()
      const lines = decoder.decode(value, { stream: true }).split("\n")
      const last = lines.pop() ?? ""
      if (lines.length > 0) {
        lines[0] = [...rest, lines[0]].join("")
        rest = []
      }
      if (last !== "") rest.push(last)
      const end = lines.indexOf(LAST_ROW)
      const isWhole = end >= 0
      // Something on the way has sent the list twice.
      if (isWhole && (end < lines.length - 1 || rest.length > 0)) throw cutOffError()
      if (isWhole) lines.pop()
      const rows = lines.map((line) => JSON.parse(line) as T | { readonly error: SentError; readonly id?: string })
      const failed = rows.find((row) => typeof row === "object" && "error" in row && !("id" in row))
      if (failed !== undefined) throw toError((failed as { readonly error: SentError }).error)
      if (rows.length > 0) yield rows as T[]
      if (isWhole) return
    }
  } catch (error) {
    throw error instanceof StorageError ? error : cutOffError(error)
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/** The error of a row, or of the list as a whole. */
export function toError({ code, message }: SentError): StorageError {
  const known = code === "corrupt" || code === "unsupported" || code === "invalid" || code === "conflict"
  return new StorageError(known ? code : "unavailable", message)
}

async function withinTime<T>(read: Promise<T>, timeout: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Nothing arrived for ${timeout} ms.`)), timeout)
  })
  try {
    return await Promise.race([read, late])
  } finally {
    clearTimeout(timer)
  }
}

function cutOffError(cause?: unknown): StorageError {
  return new StorageError("unavailable", "The list was cut off; repeat the call.", { cause })
}
