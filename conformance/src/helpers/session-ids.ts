import type { SessionStorage } from "@sessions/core/storage"
import { collect } from "./lines.ts"

/** What no id may be. */
export const hostileIds: readonly string[] = [
  "",
  ".",
  "..",
  "../x",
  "a/../b",
  "a/b",
  "a\\b",
  "/etc/passwd",
  "C:x",
  ".x",
  "x.",
  "-x",
  "x_",
  "a..b",
  "a b",
  " a",
  "a\0b",
  "a\n",
  "a%2Fb",
  "é",
  "a\u2028b",
  "x".repeat(129),
]

/** What looks odd to a file system, a URL or an object used as a map, and is an id like any other. */
export const oddIds: readonly string[] = [
  "CON",
  "nul",
  "aux.x",
  "com1.jsonl",
  "x".repeat(128),
  "a",
  "0",
  "1",
  "01",
  "s.1",
  "s.10",
  "session.jsonl",
  "session-part2.5.jsonl",
  "lock",
  "lock.wait",
  "metadata.json",
  "docs",
  "blobs",
  "constructor",
  "toString",
  "a-b_c.d",
  "a.b",
  "a.b.c",
  "a--b",
]

export const sameButForCase: readonly string[] = ["CaseSession", "casesession", "CASESESSION", "caseSession"]

/** Every method that takes a session id, as a call with that id. */
export function callsWith(storage: SessionStorage, id: string): readonly (readonly [string, () => Promise<unknown>])[] {
  const { sync, replace, watch } = storage.capabilities
  return [
    ["append()", () => storage.append(id, ["{}"], { expect: 0 })],
    ["append() with a head", () => storage.append(id, ["{}"], { expect: { next: 1, log: "x" } })],
    ["head()", () => storage.head(id)],
    ["read()", () => collect(storage.read(id))],
    ["delete()", () => storage.delete(id)],
    ["docs.get() of its document", () => storage.docs.get(`sessions/${id}/x`)],
    ["docs.put() of its document", () => storage.docs.put(`sessions/${id}/x`, "{}", { expect: null })],
    ...(sync ? ([["sync()", async () => storage.sync?.(id)]] as const) : []),
    ...(watch ? ([["watch()", async () => storage.watch && collect(storage.watch(id))]] as const) : []),
    ...(replace
      ? ([["replace()", async () => storage.replace?.(id, oneChunk(), { expect: { next: 1, log: "x" } })]] as const)
      : []),
  ]
}

async function* oneChunk(): AsyncGenerator<{ from: number; lines: string[] }> {
  yield { from: 0, lines: ["{}"] }
}
