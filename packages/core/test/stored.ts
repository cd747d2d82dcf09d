/** Logs in a storage, written line by line through the contract, valid or not. */
import { createMemoryStorage } from "@sessions/memory"
import { createSessions } from "../src/session/repository.ts"
import type { Sessions } from "../src/session/types.ts"
import type { SessionStorage } from "../src/storage/contract.ts"

export const STORED_ID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"

export async function storeLines(
  lines: readonly string[],
  storage: SessionStorage = createMemoryStorage(),
): Promise<SessionStorage> {
  const head = await storage.append(STORED_ID, lines.slice(0, 1), { expect: 0 })
  if (lines.length > 1) await storage.append(STORED_ID, lines.slice(1), { expect: head })
  return storage
}

/** Sessions that read about this many bytes at a time, from the end; 1 is a line each. */
export function sessionsReading(storage: SessionStorage, windowBytes: number): Sessions {
  return createSessions({ storage, readWindow: { first: windowBytes, largest: windowBytes } })
}
