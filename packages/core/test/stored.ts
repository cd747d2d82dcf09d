/** Logs in a storage, written line by line through the contract, valid or not. */
import { createMemoryStorage } from "@sessions/memory"
import { createSessions } from "../src/session/repository.ts"
import type { Sessions } from "../src/session/repository-types.ts"
import { startProjection } from "../src/info/projection.ts"
import { encodeProjection } from "../src/info/projection-text.ts"
import { piLogs } from "../src/transfer/migrate/index.ts"
import type { Seq, SessionStorage } from "../src/storage/contract.ts"

export const STORED_ID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"

/** `info`: see {@link knownTips}. Without it, opening a log that is longer than a window reads the rest of it in the background. */
export async function storeLines(
  lines: readonly string[],
  storage: SessionStorage = createMemoryStorage(),
  o: { readonly info?: string } = {},
): Promise<SessionStorage> {
  const head = await storage.append(STORED_ID, lines.slice(0, 1), { expect: 0 })
  if (lines.length > 1) await storage.append(STORED_ID, lines.slice(1), { ...o, expect: head })
  return storage
}

/** The text of information that says of a log that it ends with this message, and has no other branch. */
export function knownTips(seq: Seq, id: string = `e${seq}`): string {
  const tips = { tips: [{ seq, id, near: [id] }], current: seq }
  return encodeProjection({ ...startProjection({}, ""), to: { seq, id }, leaf: id, tips })
}

/** Sessions, also in older logs, that read about this many bytes at a time, from the end; 1 is a line each. */
export function sessionsReading(storage: SessionStorage, windowBytes: number): Sessions {
  return createSessions({ storage, readWindow: { first: windowBytes, largest: windowBytes }, readers: [piLogs] })
}
