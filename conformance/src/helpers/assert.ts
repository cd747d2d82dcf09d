import type { StorageErrorCode } from "@sessions/core/storage"
import { show, showError } from "./show.ts"

/** A rule that was not kept: what was looked at, what it should have been and what it was. */
export class Mismatch extends Error {
  readonly what: string
  readonly expected: string
  readonly came: string

  constructor(what: string, expected: string, came: string) {
    super(`${what}: expected ${expected}, came ${came}`)
    this.name = "Mismatch"
    this.what = what
    this.expected = expected
    this.came = came
  }
}

export function check(holds: boolean, what: string, expected: string, came: unknown): asserts holds {
  if (!holds) throw new Mismatch(what, expected, show(came))
}

/** By value, for what JSON can write; keys that are undefined count as missing, their order does not count. */
export function equal(came: unknown, expected: unknown, what: string): void {
  if (!same(came, expected)) throw new Mismatch(what, show(expected), show(came))
}

/** Says which line differs first, with its neighbours' number, instead of showing two long lists. */
export function equalLines(came: readonly string[], expected: readonly string[], what: string): void {
  for (const [index, line] of expected.entries()) {
    const other = came[index]
    if (other === undefined)
      throw new Mismatch(what, `${expected.length} lines`, `${came.length}; missing from ${show(line)} on`)
    if (other !== line) throw new Mismatch(`${what}, line ${index}`, ...differing(line, other))
  }
  if (came.length > expected.length) {
    throw new Mismatch(
      what,
      `${expected.length} lines`,
      `${came.length}; too many from ${show(came[expected.length])} on`,
    )
  }
}

export function equalBytes(came: unknown, expected: Uint8Array, what: string): void {
  check(came instanceof Uint8Array, what, show(expected), came)
  const differs = expected.findIndex((byte, index) => came[index] !== byte)
  if (came.length === expected.length && differs === -1) return
  throw new Mismatch(differs === -1 ? what : `${what}, from byte ${differs} on`, show(expected), show(came))
}

/** The call must give a promise that rejects with this code (or one of them). */
export async function rejects(
  code: StorageErrorCode | readonly StorageErrorCode[],
  what: string,
  call: () => unknown,
): Promise<Error> {
  const codes: readonly string[] = typeof code === "string" ? [code] : code
  const expected = `a rejection with code ${codes.map((one) => `"${one}"`).join(" or ")}`
  let result: unknown
  try {
    result = call()
  } catch (error) {
    throw new Mismatch(what, expected, `no promise, the method itself threw ${showError(error)}`)
  }
  let value: unknown
  try {
    value = await result
  } catch (error) {
    if (error instanceof Error && codes.includes(String((error as { code?: unknown }).code))) return error
    throw new Mismatch(what, expected, showError(error))
  }
  throw new Mismatch(what, expected, `it resolved with ${show(value)}`)
}

/** Asks again until the condition holds; what it waits for has no other sign than its effect. */
export async function until(patience: number, what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + patience
  while (!(await holds())) {
    if (performance.now() > end) throw new Mismatch(what, `it to happen within ${patience} ms`, "it did not")
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

function same(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const keys = new Set([...Object.keys(a), ...Object.keys(b)])
  return [...keys].every((key) => same(a[key as keyof typeof a], b[key as keyof typeof b]))
}

function differing(expected: string, came: string): [string, string] {
  let at = 0
  while (at < expected.length && expected[at] === came[at]) at++
  const from = Math.max(0, at - 20)
  const piece = (text: string): string => show(text.slice(from, from + 60))
  const where = from === 0 ? "" : ` from character ${from} on`
  return [`${piece(expected)}${where}`, `${piece(came)}${where} (${came.length} characters, not ${expected.length})`]
}
