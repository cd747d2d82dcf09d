/** Damages a log: values of records, records, lines, and the documents and bytes that a storage has made of them. */
import type { Dice } from "../../../packages/core/test/dice.ts"

export type Json = Readonly<Record<string, unknown>>
type Path = readonly (string | number)[]

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

/** Fields that decide whether an entry is on the path. Few wrong ones are enough to hide all other damage. */
const LINKS: ReadonlySet<unknown> = new Set(["type", "id", "parentId", "seq", "version", "format"])

/** A wrong value in some field of each of a share of the records, content blocks included. */
export function damageFields(records: readonly Json[], share: number, dice: Dice): Json[] {
  return records.map((record) => {
    if (!dice.chance(share)) return record
    const all = pathsOf(record)
    const others = all.filter(([key]) => !LINKS.has(key))
    return withWrong(record, dice.pick(others.length === 0 || dice.chance(0.05) ? all : others), dice) as Json
  })
}

/** Records that are missing, repeated or elsewhere, and lines that are none. */
export function damageOrder(records: readonly Json[], dice: Dice): string[] {
  let mutated = [...records]
  for (let times = dice.below(3); times > 0; times--) {
    const at = dice.below(mutated.length)
    const record = mutated[at] as Json
    switch (dice.below(3)) {
      case 0:
        mutated = mutated.toSpliced(at, 1)
        break
      case 1:
        mutated = mutated.toSpliced(dice.below(mutated.length + 1), 0, record)
        break
      default:
        mutated = mutated.toSpliced(at, 1, dice.pick(mutated)).toSpliced(dice.below(mutated.length), 1, record)
    }
    if (mutated.length === 0) mutated = [...records]
  }
  const lines = toLines(mutated)
  for (let times = dice.below(3); times > 0; times--) {
    const at = dice.below(lines.length)
    const line = lines[at] as string
    const cut = dice.below(line.length)
    lines[at] = dice.chance(0.5) ? dice.pick(STRANGE_LINES) : line.slice(0, cut) + dice.pick(["", "}", '"', ",", "\\"])
  }
  return lines.filter((line) => line !== "")
}

export function toLines(records: readonly Json[]): string[] {
  return records.map((record) => JSON.stringify(record) ?? "null")
}

/** What was done to the stored bytes. */
export interface Damage {
  readonly what: string
  readonly path: string
  readonly bytes: Uint8Array | undefined
}

/** Damage to one stored file, object or row. `isRow`: it must stay JSON, because the store keeps values. */
export function damageStored(
  stored: ReadonlyMap<string, Uint8Array>,
  isRow: (path: string) => boolean,
  dice: Dice,
): Damage | undefined {
  if (stored.size === 0) return undefined
  const path = pickPath([...stored.keys()], dice)
  const bytes = stored.get(path) as Uint8Array
  if (isRow(path))
    return dice.chance(0.1) ? { what: `${path} removed`, path, bytes: undefined } : damageValue(path, bytes, dice)
  return (dice.chance(0.4) ? damageValue(path, bytes, dice) : undefined) ?? damageBytes(stored, path, dice)
}

/** Each kind of file equally often, however many there are of it, and the last of them more often: it has the end of the log. */
function pickPath(paths: readonly string[], dice: Dice): string {
  const kindOf = (path: string): string => path.replace(/^(log|batch) .*|\d+|\/[a-z0-9]{12}\b/g, "$1")
  const kinds = new Map<string, string[]>()
  for (const path of paths.toSorted()) kinds.set(kindOf(path), [...(kinds.get(kindOf(path)) ?? []), path])
  const found = dice.pick([...kinds.values()])
  return dice.chance(0.3) ? (found.at(-1) as string) : dice.pick(found)
}

/** A wrong value in the JSON that the file has in its first line; undefined if it has none. */
function damageValue(path: string, bytes: Uint8Array, dice: Dice): Damage | undefined {
  const lf = bytes.indexOf(LF)
  const end = lf < 0 ? bytes.length : lf
  let value: unknown
  try {
    value = JSON.parse(Buffer.from(bytes.subarray(0, end)).toString("utf8"))
  } catch {
    return undefined
  }
  if (typeof value !== "object" || value === null) return undefined
  const places = pathsOf(value)
  if (places.length === 0) return undefined
  // Wrong numbers pass most checks.
  const numbers = places.filter((place) => typeof valueAt(value, place) === "number")
  const place = dice.pick(numbers.length > 0 && dice.chance(0.5) ? numbers : places)
  const text = JSON.stringify(withWrong(value, place, dice)) ?? "null"
  return {
    what: `another value in ${path}: ${place.join(".")}`,
    path,
    bytes: Buffer.concat([Buffer.from(text), bytes.subarray(end)]),
  }
}

function damageBytes(stored: ReadonlyMap<string, Uint8Array>, path: string, dice: Dice): Damage {
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
  const breaks = bytes.indexOf(LF, at)
  switch (dice.below(11)) {
    case 0:
      return done("removed", undefined)
    case 1:
      return done("cut", [before])
    case 2:
      return done("inserted", [before, random(length), after])
    case 3:
      return done("deleted", [before, after.subarray(length)])
    case 4:
      return done("another file's content", [stored.get(dice.pick([...stored.keys()].sort())) as Uint8Array])
    case 5:
      return done("a line break", [before, [LF], after.subarray(1)])
    case 6:
      return done("another digit", [before, [48 + dice.below(10)], after.subarray(1)])
    case 7:
      return done("repeated", [before, bytes.subarray(Math.max(0, at - length)), after])
    case 8:
      return done("a line break more", [before, [LF], after])
    case 9:
      return done(
        "the next line break overwritten",
        breaks < 0 ? [bytes] : [bytes.subarray(0, breaks), [120], bytes.subarray(breaks + 1)],
      )
    default:
      return done("overwritten", [before, random(1), after.subarray(1)])
  }
}

const LF = 10

/** Of each value in it, without its own. */
function pathsOf(value: unknown, at: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [at]
  const keys = Array.isArray(value) ? value.keys() : Object.keys(value)
  const inner = [...keys].flatMap((key) =>
    pathsOf((value as Readonly<Record<string | number, unknown>>)[key], [...at, key]),
  )
  return at.length === 0 ? inner : [at, ...inner]
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce((at, key) => (at as Readonly<Record<string | number, unknown>>)[key], value)
}

function withWrong(value: unknown, [key, ...rest]: Path, dice: Dice): unknown {
  if (key === undefined) return dice.chance(0.5) ? dice.pick(VALUES) : near(value, dice)
  if (Array.isArray(value)) return value.with(Number(key), withWrong(value[Number(key)], rest, dice))
  const fields = value as Json
  return { ...fields, [key]: withWrong(fields[key], rest, dice) }
}

/** A value of the same type: such values pass most checks. */
function near(value: unknown, dice: Dice): unknown {
  if (typeof value === "number")
    return dice.pick([
      value + 1,
      value - 1,
      -value,
      value * 2,
      Math.floor(value / 2),
      value + 0.5,
      value * 1e9,
      dice.below(100),
    ])
  if (typeof value === "boolean") return !value
  if (typeof value === "string") return nearText(value, dice)
  if (Array.isArray(value)) {
    const at = dice.below(value.length)
    return dice.pick([
      [],
      value.toSpliced(at, 1),
      value.toSpliced(at, 0, value[at]),
      value.toReversed(),
      [...value, ...value],
    ])
  }
  if (typeof value !== "object" || value === null) return {}
  const keys = Object.keys(value)
  if (keys.length === 0) return { x: 1 }
  const { [dice.pick(keys)]: _, ...others } = value as Json
  return others
}

function nearText(text: string, dice: Dice): string {
  const at = dice.below(text.length)
  const [before, after] = [text.slice(0, at), text.slice(at)]
  const breaks = text.indexOf("\n", at)
  return dice.pick([
    before,
    after,
    text + text,
    `${before}\n${after}`,
    `${before}\n${after.slice(1)}`,
    `${before}0${after.slice(1)}`,
    breaks < 0 ? text : `${text.slice(0, breaks)}-${text.slice(breaks + 1)}`,
    `${before}\u00e9${after.slice(1)}`,
  ])
}
