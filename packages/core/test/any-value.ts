/** Logs with any value in any place, and what every call makes of them. */
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { createSessions } from "../src/index.ts"
import { readingCalls, writingCalls } from "./every-call.ts"
import { oneOfEach } from "./one-of-each.ts"

type Path = readonly (string | number)[]

const DEPTH = 12_000

/** Logs with damage to one place of each record, and in another log only of the header. Together they have each place damaged once. */
function damaged(version: 1 | 3 | 4, toLine: (record: unknown, path: Path) => string | undefined): string[][] {
  const records = oneOfEach(version)
  const places = records.map((record) => pathsOf(record))
  const [headers = []] = places
  const damageOne = (at: number): string[] =>
    records.map((record, index) => (index === 0 ? toLine(record, headers[at] ?? []) : JSON.stringify(record)) ?? "{}")
  const damageAll = (at: number): string[] =>
    records.map((record, index) => {
      const paths = places[index] ?? []
      return (
        (index === 0 ? undefined : toLine(record, paths[(at + index) % paths.length] ?? [])) ?? JSON.stringify(record)
      )
    })
  const rounds = Math.max(...places.map(({ length }) => length))
  return [...headers.map((_, at) => damageOne(at)), ...Array.from({ length: rounds }, (_, at) => damageAll(at))]
}

async function defectsOf(lines: readonly string[]): Promise<readonly string[]> {
  const storage = createMemoryStorage()
  await storage.append("s", lines, { expect: 0 })
  const sessions = createSessions({ storage })
  const { defects } = await readingCalls(sessions, "s")
  return [...defects, ...(await writingCalls(sessions, "s"))]
}

/** Every place in the records, the records themselves included. */
function pathsOf(value: unknown, path: Path = []): readonly Path[] {
  const below = typeof value === "object" && value !== null ? Object.entries(value) : []
  const key = (name: string): string | number => (Array.isArray(value) ? Number(name) : name)
  return [...(path.length === 0 ? [] : [path]), ...below.flatMap(([name, one]) => pathsOf(one, [...path, key(name)]))]
}

function withValue(value: unknown, [key, ...rest]: Path, to: unknown): unknown {
  if (key === undefined) return to
  if (Array.isArray(value)) return value.map((one, at) => (at === key ? withValue(one, rest, to) : one))
  const fields = value as Readonly<Record<string, unknown>>
  return { ...fields, [key]: withValue(fields[key], rest, to) }
}

/** The values that a place gets. */
const VALUES: Readonly<Record<string, unknown>> = {
  nothing: undefined,
  null: null,
  "a negative number": -1,
  "a fraction": 1e300,
  "an empty string": "",
  "a string": "\u001b]52;\ud800",
  "a list": [null, 5, {}],
  "an object that has no text": { toString: 1, valueOf: 1, toJSON: 1, length: -1 },
}

/** Only every `every`th log of a value; others for the next value, so that together they have each place damaged. */
export function anyValueTests(every: number): void {
  for (const version of [4, 3, 1] as const) {
    for (const [shift, [name, value]] of Object.entries(VALUES).entries()) {
      test(`version ${version}: ${name} in any place of a log makes no call fail without a code`, async () => {
        const logs = damaged(version, (record, path) => JSON.stringify(withValue(record, path, value)))
        for (const lines of logs.filter((_, at) => at % every === shift % every))
          expect(await defectsOf(lines), lines.join("\n")).toEqual([])
      })
    }
  }
}

/** Each such log takes long: only every `every`th. Older logs are migrated first: the same calls, but many times as long. */
export function deepValueTest(every: number): void {
  test(`version 4: a value of ${DEPTH} levels in any place of a log makes no call fail without a code`, async () => {
    const deep = `${'{"a":['.repeat(DEPTH / 2)}${"]}".repeat(DEPTH / 2)}`
    const toLine = (record: unknown, path: Path): string =>
      JSON.stringify(withValue(record, path, "DEEP")).replace('"DEEP"', deep)
    for (const [at, lines] of damaged(4, toLine).entries()) {
      if ((at + 1) % every !== 0) continue
      expect(await defectsOf(lines), lines.join("\n").replaceAll(deep, "DEEP")).toEqual([])
    }
  })
}
