/** The assertions of the cases. They throw a {@link Mismatch}, which a report prints without a stack. */
import type { StorageErrorCode } from "@sessions/core/storage"
import { show, showError } from "./show.ts"

/** A failed check: what was checked, the expected value and the actual one, in words. */
export class Mismatch extends Error {
  readonly what: string
  readonly expected: string
  readonly actual: string

  constructor(what: string, expected: string, actual: string) {
    super(`${what}: expected ${expected}, got ${actual}`)
    this.name = "Mismatch"
    this.what = what
    this.expected = expected
    this.actual = actual
  }
}

export function check(holds: boolean, what: string, expected: string, actual: unknown): asserts holds {
  if (!holds) throw new Mismatch(what, expected, show(actual))
}

/** Compares JSON values. A key whose value is undefined counts as missing; the order of keys does not matter. */
export function equal(actual: unknown, expected: unknown, what: string): void {
  if (!same(actual, expected)) throw new Mismatch(what, show(expected), show(actual))
}

/** Reports the first line that differs, with its index, because two long lists are hard to compare by eye. */
export function equalLines(actual: readonly string[], expected: readonly string[], what: string): void {
  for (const [index, line] of expected.entries()) {
    const other = actual[index]
    if (other === undefined)
      throw new Mismatch(what, `${expected.length} lines`, `${actual.length}; missing from ${show(line)} on`)
    if (other !== line) throw new Mismatch(`${what}, line ${index}`, ...differing(line, other))
  }
  if (actual.length > expected.length) {
    throw new Mismatch(
      what,
      `${expected.length} lines`,
      `${actual.length}; too many from ${show(actual[expected.length])} on`,
    )
  }
}

export function equalBytes(actual: unknown, expected: Uint8Array, what: string): void {
  check(actual instanceof Uint8Array, what, show(expected), actual)
  const differs = expected.findIndex((byte, index) => actual[index] !== byte)
  if (actual.length === expected.length && differs === -1) return
  throw new Mismatch(differs === -1 ? what : `${what}, from byte ${differs} on`, show(expected), show(actual))
}

/** The call must return a promise that rejects with this code, or with one of these. */
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

/** Polls, for effects that no promise or event reports. */
export async function until(waitMs: number, what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + waitMs
  while (!(await holds())) {
    if (performance.now() > end) throw new Mismatch(what, `it to happen within ${waitMs} ms`, "it did not")
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

/** Whether two JSON values are equal, as {@link equal} compares them. */
export function same(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const keys = new Set([...Object.keys(a), ...Object.keys(b)])
  return [...keys].every((key) => same(a[key as keyof typeof a], b[key as keyof typeof b]))
}

function differing(expected: string, actual: string): [string, string] {
  let at = 0
  while (at < expected.length && expected[at] === actual[at]) at++
  const from = Math.max(0, at - 20)
  const excerpt = (text: string): string => show(text.slice(from, from + 60))
  const where = from === 0 ? "" : ` from character ${from} on`
  return [
    `${excerpt(expected)}${where}`,
    `${excerpt(actual)}${where} (${actual.length} characters, not ${expected.length})`,
  ]
}
