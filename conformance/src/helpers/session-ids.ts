/** Session ids for the cases: invalid ones, unusual ones, and the methods that must check them. */
import type { SessionStorage } from "@sessions/core/storage"
import { collect } from "./lines.ts"

export const invalidIds: readonly string[] = [
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

/** Valid ids that are special to a file system, to a URL, or to an object that is used as a map. */
export const unusualIds: readonly string[] = [
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

export const caseVariants: readonly string[] = ["CaseSession", "casesession", "CASESESSION", "caseSession"]

/** One call of every method that takes a session id. */
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
