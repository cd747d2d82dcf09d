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
  "C:",
  ".x",
  "x.",
  "@x",
  "x@",
  ":x",
  "x:",
  "+x",
  "x+",
  "~",
  "~x",
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
  "-",
  "_",
  "-x",
  "x_",
  "C:x",
  "a:b",
  "user:ann@example.org",
  "ann+tag@example.org",
  "user",
  "user@docs",
  "progra~1",
  "a~b",
  "a+b",
  "a_b",
  "_V1StGXR8_Z5jdHi6B-m-",
  "3f2a7c1e-5b7d-4c53-9d0e-7a1f0c2b9e44",
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
