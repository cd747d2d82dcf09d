/** The stored parts of a session's log. */
import type { ReadableSession } from "./live-types.ts"
import type { SessionPart } from "./types.ts"
import type { CallOptions } from "../storage/contract.ts"

export async function readParts(
  { id, storage }: ReadableSession,
  o: CallOptions = {},
): Promise<{ readonly bytes: number; readonly parts: readonly SessionPart[] }> {
  const head = await storage.head(id, o)
  if (head === undefined) return { bytes: 0, parts: [] }
  const parts = head.parts ?? [{ from: 0, bytes: head.bytes }]
  return {
    bytes: head.bytes,
    parts: parts.map((part, index) => ({
      ...part,
      number: index + 1,
      count: (parts[index + 1]?.from ?? head.next) - part.from,
    })),
  }
}
