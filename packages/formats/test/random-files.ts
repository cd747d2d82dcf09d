/**
 * Random files of a format: its golden files with records, elements and fields left out, repeated, exchanged, added and replaced, as
 * other versions of an agent, other tools and damaged disks leave them; some are cut at any byte.
 */
import * as fc from "fast-check"
import type { Golden } from "./laws.ts"

/** One change. Numbers choose among the places that the file has. */
interface Change {
  readonly op: "drop" | "repeat" | "swap" | "set" | "add"
  readonly at: number
  readonly to: number
  readonly name: string
  readonly value: unknown
}

/** Values that no format expects, and values that most expect somewhere else. */
const VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1_790_000_000,
  1_790_000_000_000,
  -62_135_596_800_001,
  2 ** 60,
  1e300,
  "",
  "x",
  "\u0000",
  "\ud800",
  "a\u2028b",
  "2026-13-45T99:00:00Z",
  [],
  [null],
  [[["x"]]],
  {},
  { type: "text", text: "t" },
  { type: "text", text: 7 },
  { type: "toolCall", id: "c", name: "n", arguments: {} },
  { type: "image", mimeType: 7 },
  { role: "user", content: "t" },
]

const NAMES = ["__proto__", "constructor", "toString", "source", "type", "id", "parentId", "at", "rest", "0", "", "new"]

const change: fc.Arbitrary<Change> = fc.record({
  op: fc.constantFrom("drop", "repeat", "swap", "set", "add"),
  at: fc.nat(),
  to: fc.nat(),
  name: fc.constantFrom(...NAMES),
  value: fc.constantFrom(...VALUES),
})

/** Files like these. The text of a file is bytes that were decoded, so it has no lone surrogates outside of escapes. */
export function filesLike(goldens: readonly Golden[]): fc.Arbitrary<Golden> {
  return fc
    .record({
      golden: fc.constantFrom(...goldens),
      changes: fc.array(change, { maxLength: 8 }),
      end: fc.constantFrom("\n", "\r\n", ""),
      start: fc.constantFrom("", "", "\ufeff"),
      cut: fc.option(fc.nat(), { freq: 3, nil: undefined }),
    })
    .map(({ golden, changes, end, start, cut }) => {
      const { isDocument, value } = valueOf(golden.text)
      const holder = { root: structuredClone(value) }
      for (const one of changes) apply(holder, one)
      const text = isDocument ? JSON.stringify(holder.root) : linesOf(holder.root, end)
      const bytes = new TextEncoder().encode(start + text)
      return { ...golden, text: decoded(cut === undefined ? bytes : bytes.subarray(0, cut % (bytes.length + 1))) }
    })
}

function valueOf(text: string): { readonly isDocument: boolean; readonly value: unknown } {
  const value = parsed(text)
  if (value !== undefined) return { isDocument: true, value }
  const lines = text.split("\n").filter((line) => line.trim() !== "")
  return { isDocument: false, value: lines.map((line) => parsed(line) ?? line) }
}

function linesOf(records: unknown, end: string): string {
  const lines = (records as readonly unknown[]).map((one) => (typeof one === "string" ? one : JSON.stringify(one)))
  // Without an end, the last line is open.
  return end === "" ? lines.join("\n") : lines.map((line) => line + end).join("")
}

type Container = Record<string, unknown>

function apply(holder: { root: unknown }, { op, at, to, name, value }: Change): void {
  const places = [...placesIn(holder.root as Container)]
  const place = places[at % Math.max(1, places.length)]
  if (place === undefined) return
  const { container, key } = place
  const list = Array.isArray(container) ? (container as unknown[]) : undefined
  const other = to % Math.max(1, list?.length ?? 0)
  if (op === "drop") {
    if (list === undefined) Reflect.deleteProperty(container, key)
    else list.splice(Number(key), 1)
  } else if (op === "set") define(container, key, value)
  else if (op === "add") {
    if (list === undefined) define(container, name, value)
    else list.splice(Number(key), 0, structuredClone(value))
  } else if (list === undefined) define(container, key, [container[key], structuredClone(container[key])])
  else if (op === "repeat") list.splice(other, 0, structuredClone(list[Number(key)]))
  else [list[other], list[Number(key)]] = [list[Number(key)], list[other]]
}

function* placesIn(container: Container): Generator<{ readonly container: Container; readonly key: string }> {
  for (const key of Object.keys(container)) {
    yield { container, key }
    const value = container[key]
    if (typeof value === "object" && value !== null) yield* placesIn(value as Container)
  }
}

function define(container: Container, key: string, value: unknown): void {
  const copy: unknown = structuredClone(value)
  Object.defineProperty(container, key, { value: copy, enumerable: true, configurable: true, writable: true })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function decoded(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)
}
