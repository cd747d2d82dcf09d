/** Logs with stored session information, up to date or not, in storages with a fixed clock. */
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { type InfoProjection, projectEntry, startProjection } from "../src/info/projection.ts"
import type { SessionStorage } from "../src/storage/contract.ts"
import { type CountingStorage, createCountingStorage } from "./counting-storage.ts"
import { headerOf, slotsOf } from "./logs.ts"
import { STORED_ID } from "./stored.ts"

export const NOW = Date.UTC(2026, 5, 1)

const locations = new WeakMap<SessionStorage, ReturnType<typeof createMemoryLocation>>()

/** A storage with a fixed clock, on the sessions of the given storage if there is one. */
export function memory(same?: SessionStorage): SessionStorage {
  const location = (same === undefined ? undefined : locations.get(same)) ?? createMemoryLocation()
  const storage = createMemoryStorage({ location, clock: () => NOW })
  locations.set(storage, location)
  return storage
}

export function counting(): CountingStorage {
  const inner = memory()
  const storage = createCountingStorage(inner)
  locations.set(storage, locations.get(inner) as ReturnType<typeof createMemoryLocation>)
  return storage
}

export function headerLine(): string {
  return JSON.stringify({
    type: "session",
    format: "@sessions",
    version: 4,
    id: STORED_ID,
    timestamp: "2026-01-31T09:30:00.000Z",
  })
}

export function entryLine(
  seq: number,
  payload: object,
  parentId: string | null = seq === 1 ? null : `e${seq - 1}`,
): string {
  return JSON.stringify({ ...payload, id: `e${seq}`, parentId, seq, timestamp: "2026-01-31T09:30:00.000Z" })
}

export function saidLine(seq: number): string {
  return entryLine(seq, {
    type: "message",
    message: { role: "user", content: [{ type: "text", text: `say ${seq} ${"-".repeat(60)}` }] },
  })
}

export function projectTo(lines: readonly string[], place: number, log: string): InfoProjection {
  const slots = slotsOf(lines)
  let projection = startProjection(headerOf(lines), log)
  for (let seq = 1; seq <= place; seq++) projection = projectEntry(projection, slots[seq], seq)
  return projection
}

/** Stores a log with information of its first lines, beside its head or as the document. */
export async function storeKept(
  storage: SessionStorage,
  lines: readonly string[],
  place: number,
  text: string,
  beside: boolean,
): Promise<void> {
  const info = beside ? { info: text } : {}
  const head = await storage.append(STORED_ID, lines.slice(0, place + 1), { expect: 0, ...info })
  if (place + 1 < lines.length) await storage.append(STORED_ID, lines.slice(place + 1), { expect: head })
  const own = text.startsWith(`{"v":6,"log":""`) ? text.replace('"log":""', `"log":${JSON.stringify(head.log)}`) : text
  if (!beside) await storage.docs.put(`sessions/${STORED_ID}/info`, own, { expect: null })
}

export async function linesOf(storage: SessionStorage, id = STORED_ID): Promise<string[]> {
  const lines: string[] = []
  for await (const chunk of storage.read(id)) lines.push(...chunk.lines)
  return lines
}
