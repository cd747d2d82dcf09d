/** Damages a log: values of records, records, lines, and the bytes that a storage has made of them. */
import type { Dice } from "../../../packages/core/test/dice.ts"

type Json = Readonly<Record<string, unknown>>

const VALUES: readonly unknown[] = [
  undefined,
  null,
  true,
  0,
  -1,
  1.5,
  1e300,
  2 ** 53,
  "",
  "x",
  "\u001b]52;\ud800",
  "__proto__",
  "x".repeat(5_000),
  [],
  [null, 5, "x", {}],
  {},
  { toString: 1, valueOf: 1, toJSON: 1, length: -1 },
]

/** Lines that are no records, and records of other kinds. */
const STRANGE_LINES: readonly string[] = [
  "garbage",
  " ",
  "\u0000",
  "null",
  "[]",
  "5",
  '"text"',
  "{}",
  '{"type":5}',
  '{"type":"session"}',
  '{"type":"session","format":"@sessions","version":99,"id":"s"}',
  '{"type":"title","v":1,"title":"t"}',
  `{"type":"message","id":"d","parentId":null,"x":${"[".repeat(3_500)}${"]".repeat(3_500)}}`,
  `{"type":"${"y".repeat(5_000)}","id":"z","parentId":"z","seq":1e400}`,
]

export function mutateRecords(records: readonly Json[], dice: Dice): string[] {
  let mutated = [...records]
  for (let times = dice.below(4); times > 0; times--) {
    const at = dice.below(mutated.length)
    const record = mutated[at] as Json
    switch (dice.below(6)) {
      case 0:
        mutated = mutated.toSpliced(at, 1)
        break
      case 1:
        mutated = mutated.toSpliced(dice.below(mutated.length + 1), 0, record)
        break
      case 2:
        mutated = mutated.toSpliced(at, 1, dice.pick(mutated)).toSpliced(dice.below(mutated.length), 1, record)
        break
      default:
        mutated[at] = withValue(record, dice) as Json
    }
    if (mutated.length === 0) mutated = [...records]
  }
  const lines = mutated.map((record) => JSON.stringify(record) ?? "null")
  for (let times = dice.below(3); times > 0; times--) {
    const at = dice.below(lines.length)
    const line = lines[at] as string
    const cut = dice.below(line.length)
    lines[at] = dice.chance(0.5) ? dice.pick(STRANGE_LINES) : line.slice(0, cut) + dice.pick(["", "}", '"', ",", "\\"])
  }
  return lines.filter((line) => line !== "")
}

/** The value with another one somewhere in it. */
function withValue(value: unknown, dice: Dice): unknown {
  const keys = typeof value === "object" && value !== null ? Object.keys(value) : []
  if (keys.length === 0 || dice.chance(0.15)) return dice.pick(VALUES)
  const key = dice.pick(keys)
  if (Array.isArray(value)) return value.with(Number(key), withValue(value[Number(key)], dice))
  const fields = value as Json
  return { ...fields, [key]: withValue(fields[key], dice) }
}

/** What was done to the stored bytes. */
export interface Damage {
  readonly what: string
  readonly path: string
  readonly bytes: Uint8Array | undefined
}

export function damageBytes(stored: ReadonlyMap<string, Uint8Array>, dice: Dice): Damage | undefined {
  const paths = [...stored.keys()].sort()
  if (paths.length === 0) return undefined
  const path = dice.pick(paths)
  const bytes = stored.get(path) as Uint8Array
  const at = dice.below(bytes.length + 1)
  const length = dice.pick([1, 2, 10, 100, 1_000])
  const done = (what: string, changed: readonly (Uint8Array | readonly number[])[] | undefined): Damage => ({
    what: `${what} at byte ${at} of ${path}`,
    path,
    bytes: changed === undefined ? undefined : Buffer.concat(changed.map((part) => Buffer.from(part))),
  })
  const random = (count: number): number[] => Array.from({ length: count }, () => dice.below(256))
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)]
  switch (dice.below(9)) {
    case 0:
      return done("removed", undefined)
    case 1:
      return done("cut", [before])
    case 2:
      return done("inserted", [before, random(length), after])
    case 3:
      return done("deleted", [before, after.subarray(length)])
    case 4:
      return done("another file's content", [stored.get(dice.pick(paths)) as Uint8Array])
    case 5:
      return done("a line break", [before, [10], after.subarray(1)])
    case 6:
      return done("another digit", [before, [48 + dice.below(10)], after.subarray(1)])
    case 7:
      return done("repeated", [before, bytes.subarray(Math.max(0, at - length)), after])
    default:
      return done("overwritten", [before, random(1), after.subarray(1)])
  }
}
